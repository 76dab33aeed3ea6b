import { z } from 'zod';
import { string, text } from './field-types.ts';

/** Fields that several shapes share, described once. A shape that uses one in a more specific sense overrides its description with `meta`. */

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
