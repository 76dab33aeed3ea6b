import { z } from 'zod';
import { text } from './values.ts';

/** Fields that several shapes share, described once. A shape that uses one in a more specific sense overrides its description with `meta`. */

const acme = 'acme';
const subjectExample = '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4';
export const sessionIdExample = `s:${subjectExample}:kX2vQ9mB4tYw7nLcR1sZ0A`;

export const tenantId = z.string().meta({ description: 'The id of the tenant', examples: [acme] });
export const keyId = z.string().meta({ description: 'The id of the widget key in its tenant', examples: ['site'] });
export const agentId = z.string().meta({ description: 'The id of the agent in its tenant', examples: ['support'] });

/** Names of things, as lists are filtered by them and bodies name them. */
export const tenantAsked = text(128).meta({ description: 'Only entries of this tenant, by its id', examples: [acme] });
export const keyAsked = text(200).meta({
  description: 'Only entries of this widget key, by its id',
  examples: ['site'],
});
export const agentAsked = text(128).meta({
  description: 'Only sessions with this agent, by its id',
  examples: ['support'],
});
export const tenantNamed = text(128).meta({ description: 'The id of the tenant', examples: [acme] });

export const widgetKey = text(256).meta({
  description: 'The page’s widget key; it works only from its own origin',
  examples: ['w_acme_site_4f1c0e8b7d2a49c3b6e5f0a1d2c3b4e5'],
});

export const subject = z.string().meta({
  description: 'The user whose usage it is: 32 hexadecimal digits from which the e-mail address cannot be read',
  examples: [subjectExample],
});

export const sessionRef = z.string().meta({
  description:
    'The first 42 characters of the session id, as in the log: it identifies the session but gives no access to it',
  examples: [sessionIdExample.slice(0, 42)],
});

export const callRef = z.string().meta({
  description: 'Switchboard’s own id of the call',
  examples: ['call_kX2vQ9mB4tYw7nLcR1sZ0A'],
});

export const requestId = z.string().meta({
  description: 'The `X-Request-Id` of the request, under which the log has more',
  examples: ['req_AMumvXlM6'],
});

export const nodeId = z.string().meta({ description: 'The id of the process', examples: ['Jm4c0Vb1T2yq8s5nXk9ZwA'] });
export const provider = z.string().meta({ description: 'The model provider', examples: ['openai'] });
export const model = z.string().meta({ description: 'The requested model', examples: ['gpt-realtime-2.1'] });
export const origin = z
  .string()
  .meta({ description: 'An origin, as browsers send it', examples: ['https://www.acme.example'] });
export const version = z.string().meta({ description: 'The version of Switchboard', examples: ['0.1.0'] });

export const MAX_REASON_LENGTH = 500;

/** The reason that an operator gives for an action. */
export const auditReason = z
  .string()
  .max(MAX_REASON_LENGTH)
  .optional()
  .meta({ description: 'The reason, for the audit', examples: ['the visitor asked us to'] });

/** Who did something, in the form that operators see. */
export const actor = z.string().meta({
  description:
    'Who did it: an e-mail address, `service:` and what distinguishes the token, or `cli`; viewers and admins of tenants see other people’s addresses masked',
  examples: ['ops@example.com'],
});

/** The type of a frame. */
export const frameType = <const T extends string>(type: T) =>
  z.literal(type).meta({ description: 'The type of the frame' });

/** A tenant as pages refer to it. */
export const namedTenant = z.object({
  id: tenantId,
  name: z.string().meta({ description: 'The display name of the tenant', examples: ['Acme'] }),
});
