import { z } from 'zod';
import { callMode, dataChannel } from '../call.ts';
import { keyBots } from '../key-bots.ts';
import { count, instant, ok, text } from '../values.ts';

const amount = z.number().min(0);
const limits = z.object({
  sessionsPerMinute: count.optional(),
  dailyTokens: count.optional(),
  dailyDollars: amount.optional(),
  concurrentSessions: count.optional(),
  newVisitorSeconds: count.optional().meta({
    description:
      'How long a session of a new visitor lasts before words of the visitor are heard, 10 to 86400; of calls that Switchboard hears',
  }),
});
const totals = z.object({
  sessionsPerMinute: count.optional(),
  concurrentSessions: count.optional(),
  tokensDaily: count.optional(),
  dollarsDaily: amount.optional(),
});

/** Why a key that somebody copied would be a free model. */
const keyWarning = z.enum(['overrides', 'no_totals', 'any_agent']);

export type KeyWarning = z.infer<typeof keyWarning>;

const doings = z.object({
  started: count,
  refused: count,
  challenged: count.meta({
    description: 'Creates that were refused with a challenge, which some of them solve when they come again',
  }),
  solved: count.meta({ description: 'Creates that had solved one' }),
  blocked: count.meta({ description: 'Refusals of creates as those of bots, with a challenge or without' }),
});

/** A widget key as operators see it (docs/contract.md, section 8). */
export const operatorKey = z.object({
  tenantId: z.string(),
  id: z.string(),
  key: z.string(),
  origin: z.string(),
  label: z.string(),
  agents: z.array(z.string()).nullable(),
  allowOverrides: z.boolean(),
  call: callMode.nullable(),
  dataChannel: dataChannel.nullable().meta({ description: 'Of brokered calls; null is as the agent says' }),
  limits,
  totals,
  bots: keyBots
    .optional()
    .meta({ description: 'How its callers are challenged, where it says so itself; the secret is named, never told' }),
  warnings: z.array(keyWarning).meta({
    description:
      'What makes it open: pages may change what an agent is, nothing bounds what all its visitors use in a day, it is not pinned to agents',
  }),
  revokedAt: instant.nullable(),
  pausedAt: instant.nullable().meta({ description: 'Since when it opens no new sessions; null where it does' }),
  live: count.meta({ description: 'Its sessions that have not ended' }),
  today: z
    .object({ tokens: count, dollars: amount })
    .nullable()
    .meta({ description: 'What all its users have used today; null where that is not known' }),
  refusedHour: z
    .record(z.string(), count)
    .nullable()
    .meta({ description: 'Refusals of the last hour by code; null where they are not known' }),
  day: doings
    .nullable()
    .meta({ description: 'Sessions and refusals of the last 24 hours, the present one among them' }),
  weekAgo: doings.nullable().meta({ description: 'The same of the 24 hours a week before' }),
});

export type OperatorKey = z.infer<typeof operatorKey>;

export const operatorKeys = z.object({
  tenants: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      agents: z.array(z.string()),
      totals: totals.nullable().meta({ description: 'Ceilings over all its keys together; null where it has none' }),
      maxKeys: count.nullable().meta({ description: 'How many keys it may have in use; null is any number' }),
      admins: count.nullable().meta({ description: 'How many entries its list of admins has; null where it has none' }),
    }),
  ),
  keys: z.array(operatorKey),
});

export const keyFilters = z.object({ tenantId: text(128).optional() });

/** What else is wrong with a key is told by the rules of TENANTS_FILE. */
export const issueKeyRequest = z.strictObject({
  tenantId: text(128),
  id: text(200),
  origin: z.string(),
  label: z.string().optional(),
  agents: z
    .array(z.string())
    .nullable()
    .optional()
    .meta({ description: 'By default those that its tenant has; null is any' }),
  allowOverrides: z
    .boolean()
    .optional()
    .meta({ description: 'true lets pages ask for another model and instructions; false by default' }),
  call: callMode.optional(),
  dataChannel: dataChannel
    .optional()
    .meta({ description: 'Whether pages of brokered calls speak to the provider themselves; none by default' }),
  limits: z.strictObject(limits.shape).optional(),
  totals: z
    .strictObject(totals.shape)
    .optional()
    .meta({ description: 'Over all its visitors; by default what ten of them may use, and {} is no bound' }),
  bots: keyBots.optional().meta({ description: 'How its callers are challenged; by default as the installation says' }),
  reason: z.string().max(500).optional().meta({ description: 'For the audit' }),
});

export const issueKeyReply = z.object({ key: operatorKey });

export const revokeKeyRequest = z.strictObject({
  tenantId: text(128),
  reason: z.string().max(500).optional(),
  dryRun: z.boolean().optional().meta({ description: 'true tells how many sessions would end, and revokes nothing' }),
});

export const revokeKeyReply = z.object({
  ok,
  liveSessions: count.meta({ description: 'Sessions that end with it' }),
  revokedAt: instant.nullable().meta({ description: 'For ever; null for a dry run of a key that is not revoked' }),
});

export const pauseKeyRequest = z.strictObject({ tenantId: text(128), reason: z.string().max(500).optional() });

export const pauseKeyReply = z.object({
  ok,
  pausedAt: instant.nullable().meta({ description: 'Since when it is paused; null where it is not' }),
  revokedAt: instant.nullable().meta({ description: 'A key that is revoked is neither paused nor resumed' }),
});
