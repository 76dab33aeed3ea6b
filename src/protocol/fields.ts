import { z } from 'zod';

/** Fields and types of fields that bodies and frames share: `true` for success, instants, texts with a maximum length, numbers with a unit. */
export const ok = z.literal(true).describe('Always true: the request was carried out');

/** A reply that says only that the request succeeded. */
export const done = z.object({ ok });

/** An instant in ISO 8601 and UTC; the fields that use it say what happened then. */
export const instant = z.iso.datetime().meta({ examples: ['2030-01-01T12:00:00.000Z'] });

/** One or more of the given words, separated by commas. */
export function commaList<const T extends string>(words: readonly T[]) {
  const rule = `must be one or more of ${words.join(', ')}, separated by commas`;
  return z
    .string()
    .meta({ examples: [words.slice(0, 2).join(',')] })
    .transform((text, context) => {
      const found = text.split(',');
      if (found.every((word): word is T => (words as readonly string[]).includes(word))) return found;
      context.addIssue({ code: 'custom', message: rule });
      return z.NEVER;
    })
    .describe(`One or more of ${words.join(', ')}, separated by commas`);
}

/** The message for a field of the wrong type; a missing field gets a message of its own. */
export function wanted(what: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is missing' : `must be ${what}`) };
}

/** A text, with the description and the examples that the interface descriptions give of it. */
export const string = (description: string, ...examples: string[]): z.ZodString =>
  z.string().meta({ description, examples });

/** A text that is not empty and has at most `max` characters, described as in `string` where it is not described later. */
export const text = (max: number, description?: string, ...examples: string[]): z.ZodString =>
  (description === undefined ? z.string() : string(description, ...examples)).min(1).max(max);

/**
 * The units of numbers, which the interface descriptions give for each number (`x-unit`). `none` is for numbers that name or order
 * something, `varies` for those whose unit is given beside them.
 */
export const UNITS = [
  'count',
  'milliseconds',
  'seconds',
  'minutes',
  'days',
  'Unix seconds',
  'bytes',
  'pixels',
  'tokens',
  'dollars',
  'micro-dollars',
  'percent',
  'share',
  'factor',
  'varies',
  'none',
] as const;

export type Unit = (typeof UNITS)[number];

/** A number's metadata in the interface descriptions: its unit, an example, and where it is not that of the schema, its description. */
export function inUnit(unit: Unit, example: number, description?: string) {
  return { ...(description !== undefined && { description }), 'x-unit': unit, examples: [example] };
}

/** An integer, and any number, with what the interface descriptions say of it. */
export const integer = (...of: Parameters<typeof inUnit>): z.ZodInt => z.int().meta(inUnit(...of));
export const number = (...of: Parameters<typeof inUnit>): z.ZodNumber => z.number().meta(inUnit(...of));

export const count = integer('count', 3).min(0);
export const seconds = integer('seconds', 90).min(0);
export const milliseconds = integer('milliseconds', 120).min(0);
export const tokens = integer('tokens', 1833).min(0);
export const dollars = number('dollars', 0.064187);
export const microDollars = integer('micro-dollars', 64_187).min(0);
export const percent = integer('percent', 80).min(0);
/** A number that orders or identifies something, such as a version or a status. */
export const ordinal = integer('none', 1).min(0);

/** An instant in a query, parsed to milliseconds since the Unix epoch. */
export const instantAsked = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-01T12:00:00Z' })
  .meta({ description: 'An ISO 8601 time with a time zone', examples: ['2030-01-01T12:00:00Z'] })
  .transform((text) => Date.parse(text))
  .describe('An ISO 8601 time with a time zone');

// Fields that several shapes share, described once. A shape that uses one in a more specific sense overrides its description with `meta`.

const acme = 'acme';
const subjectExample = '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4';
export const sessionIdExample = `s:${subjectExample}:kX2vQ9mB4tYw7nLcR1sZ0A`;

export const tenantId = string('The id of the tenant', acme);
export const keyId = string('The id of the widget key in its tenant', 'site');
export const agentId = string('The id of the agent in its tenant', 'support');

/** Names of things, as lists are filtered by them and bodies name them. */
export const tenantAsked = text(128, 'Only entries of this tenant, by its id', acme);
export const keyAsked = text(200, 'Only entries of this widget key, by its id', 'site');
export const agentAsked = text(128, 'Only sessions with this agent, by its id', 'support');
export const tenantNamed = text(128, 'The id of the tenant', acme);

export const widgetKey = text(
  256,
  'The page’s widget key; it works only from its own origin',
  'w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5',
);

export const subject = string(
  'The user whose usage it is: 32 hexadecimal digits from which the e-mail address cannot be read',
  subjectExample,
);

export const sessionRef = string(
  'The first 42 characters of the session id, as in the log: it identifies the session but gives no access to it',
  sessionIdExample.slice(0, 42),
);

export const callRef = string('Switchboard’s own id of the call', 'call_kX2vQ9mB4tYw7nLcR1sZ0A');

export const requestId = string('The `X-Request-Id` of the request, under which the log has more', 'req_AMumvXlM6');

export const nodeId = string('The id of the process', 'Jm4c0Vb1T2yq8s5nXk9ZwA');
export const provider = string('The model provider', 'openai');
export const model = string('The requested model', 'gpt-realtime-2.1');
export const origin = string('An origin, as browsers send it', 'https://www.acme.example');
export const version = string('The version of Switchboard', '0.1.0');

export const MAX_REASON_LENGTH = 500;

/** A reason as it is kept: without the space around it; undefined if it is blank. */
export function reasonGiven(reason: string | undefined): string | undefined {
  return reason?.trim() || undefined;
}

const reasonOf = (schema: z.ZodString) =>
  schema
    .max(MAX_REASON_LENGTH)
    .meta({ examples: ['the visitor asked us to'] })
    .transform(reasonGiven)
    .optional()
    .describe('The reason, for the audit; a blank one counts as none');

/** The reason that an operator gives for an action. */
export const auditReason = reasonOf(z.string());

/** The same in a query, where no value may be empty. */
export const reasonAsked = reasonOf(z.string().min(1));

/** The body of an action for which only a reason can be given. */
export const onlyReason = z.strictObject({ reason: auditReason });

/** The query of what operators see of all their tenants, or of one. */
export const ofTenant = z.object({ tenantId: tenantAsked.optional() });

/** Who did something, in the form that operators see. */
export const actor = string(
  'Who did it: an e-mail address, `service:` and what distinguishes the token, or `cli`; viewers and admins of tenants see other people’s addresses masked',
  'ops@example.com',
);

/** The type of a frame. */
export const frameType = <const T extends string>(type: T) => z.literal(type).describe('The type of the frame');

/** A tenant as pages refer to it. */
export const namedTenant = z.object({ id: tenantId, name: string('The display name of the tenant', 'Acme') });
