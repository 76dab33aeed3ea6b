import { z } from 'zod';
import { agentSettings } from '../protocol/agent.ts';
import { budgetEntry, MAX_BUDGETS } from '../protocol/budget.ts';
import { callMode, dataChannel } from '../protocol/call.ts';
import { elementSettings } from '../protocol/element-settings.ts';
import { keyBots } from '../protocol/challenge.ts';
import { modelPrice } from '../protocol/price.ts';
import { MAX_ENDPOINTS, wantedTypes, webhookUrl } from '../protocol/webhook.ts';
import { ADMIN_RIGHTS } from '../stores/tenants/contract.ts';
import { findContradicting } from './key-rules.ts';
import { wanted } from '../protocol/fields.ts';

function text(min: number, max: number): z.ZodString {
  const what = `a text of ${min} to ${max} characters`;
  return z.string(wanted(what)).min(min, `must be ${what}`).max(max, `must be ${what}`);
}

/** Ids become parts of subjects (`widget:<tenant>:<key id>`), where a colon or an @ would make two callers look alike. */
function identifier(max: number): z.ZodString {
  const what = `1 to ${max} letters, digits, dots, hyphens and underscores`;
  return z.string(wanted(what)).regex(new RegExp(`^[A-Za-z0-9._-]{1,${max}}$`), `must be ${what}`);
}

function whole(max: number): z.ZodNumber {
  const what = `a whole number from 0 to ${max}`;
  return z.int(wanted(what)).min(0, `must be ${what}`).max(max, `must be ${what}`);
}

const agentSchema = z.strictObject(
  {
    id: identifier(128),
    ...agentSettings.shape,
    element: elementSettings.optional(),
    agentName: text(1, 128).optional(),
    call: callMode.optional(),
    dataChannel: dataChannel.optional(),
    price: modelPrice.optional(),
    strict: z.boolean(wanted('true or false')).optional(),
    toolsPerSession: z
      .int(wanted('a whole number from 1 to 200'))
      .min(1, 'must be at least 1')
      .max(200, 'must be at most 200')
      .optional(),
  },
  wanted('an object with at least an id'),
);

const sessions = whole(1_000_000);
const tokens = whole(1_000_000_000_000);
const dollars = z
  .number(wanted('an amount of dollars'))
  .min(0, 'must not be negative')
  .max(1_000_000, 'must be at most 1000000')
  .refine((amount) => Number(amount.toFixed(6)) === amount, 'must have at most 6 decimals');

/** How long a visitor may take to begin; more than a day would not limit a session. */
const newVisitorSeconds = z
  .int(wanted('a whole number of seconds from 10 to 86400'))
  .min(10, 'must be at least 10 seconds, in which a visitor can begin to speak')
  .max(86_400, 'must be at most 86400 seconds');

/** The WIDGET_* limits that a widget key overrides, and its other limits for each visitor. */
export const limitsSchema = z.strictObject(
  {
    sessionsPerMinute: sessions.optional(),
    dailyTokens: tokens.optional(),
    dailyDollars: dollars.optional(),
    concurrentSessions: sessions.optional(),
    newVisitorSeconds: newVisitorSeconds.optional(),
  },
  wanted('an object'),
);

/** The ceilings over all subjects of a widget key, or over all keys of a tenant. */
export const totalsSchema = z.strictObject(
  {
    sessionsPerMinute: sessions.optional(),
    concurrentSessions: sessions.optional(),
    tokensDaily: tokens.optional(),
    dollarsDaily: dollars.optional(),
  },
  wanted('an object'),
);

/** The only origin from which a key works: exactly as browsers send it, no wildcards (docs/contract.md, section 3). */
export const originSchema = z
  .string(wanted('an origin such as https://www.example.com'))
  .superRefine((value, context) => {
    const message = findOriginFault(value);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

function findOriginFault(value: string): string | undefined {
  if (value.includes('*')) return 'must be one exact origin: wildcards are not supported, use a key for each origin';
  const exact = URL.canParse(value) && /^https?:/i.test(value) ? new URL(value).origin : undefined;
  if (exact === value) return undefined;
  const hint = exact === undefined ? 'such as https://www.example.com' : `as browsers send it: ${exact}`;
  return `must be an exact origin, ${hint}`;
}

/** A console user: one address, or every address of a @domain. */
const adminSchema = z
  .string(wanted('an e-mail address or a @domain'))
  .trim()
  .toLowerCase()
  .regex(/^[^\s@,;<>"*]*@[^\s@,;<>"*]+$/, 'must be an e-mail address or a @domain');

/** The id of a key. */
export const keyIdSchema = identifier(200);

const keySchema = z
  .strictObject(
    {
      id: keyIdSchema.optional(),
      key: z
        .string(wanted('a widget key that starts with w_'))
        .regex(
          /^w_[A-Za-z0-9_-]{1,198}$/,
          'must start with w_ and be at most 200 letters, digits, hyphens and underscores',
        ),
      origin: originSchema,
      label: text(0, 200).default(''),
      revoked: z.boolean(wanted('true or false')).default(false),
      agents: z
        .array(identifier(128), wanted('a list of agent ids'))
        .min(1, 'must name an agent; leave it out to allow any')
        .nullable()
        .default(null),
      allowOverrides: z.boolean(wanted('true or false')).default(true),
      call: callMode.nullable().default(null),
      dataChannel: dataChannel.nullable().default(null),
      limits: limitsSchema.default({}),
      totals: totalsSchema.default({}),
      bots: keyBots.optional(),
    },
    wanted('an object with key and origin'),
  )
  .superRefine((key, context) => {
    for (const { path, message } of findContradicting(key))
      context.addIssue({ code: 'custom', path: path.split('.'), message });
  });

const webhookSchema = z.strictObject(
  { id: identifier(64), url: webhookUrl, types: wantedTypes },
  wanted('an object with id, url and types'),
);
const budgetList = z
  .array(budgetEntry, wanted('a list of budgets'))
  .max(MAX_BUDGETS, `must have at most ${MAX_BUDGETS} entries`);

const tenantSchema = z.strictObject(
  {
    id: identifier(64),
    name: text(1, 200).optional(),
    widgetKeys: z.array(keySchema, wanted('a list of widget keys')).default([]),
    agents: z.array(agentSchema, wanted('a list of agents')).default([]),
    admins: z.array(adminSchema, wanted('a list of e-mail addresses')).nullable().default(null),
    adminsMay: z
      .array(z.enum(ADMIN_RIGHTS, wanted(ADMIN_RIGHTS.join(' or '))), wanted(`a list of ${ADMIN_RIGHTS.join(', ')}`))
      .optional(),
    totals: totalsSchema.optional(),
    maxKeys: whole(1_000_000).optional(),
    webhooks: z
      .array(webhookSchema, wanted('a list of webhooks'))
      .max(MAX_ENDPOINTS, `must be at most ${MAX_ENDPOINTS}`)
      .optional(),
    budgets: budgetList.optional(),
  },
  wanted('an object with id and widgetKeys'),
);

/** TENANTS_FILE (docs/contract.md, section 3). */
export const tenantsFileSchema = z.strictObject(
  { tenants: z.array(tenantSchema, wanted('a list of tenants')), budgets: budgetList.optional() },
  { error: 'must be an object with a list of tenants' },
);

export type TenantEntry = z.infer<typeof tenantSchema>;
