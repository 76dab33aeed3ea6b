import { z } from 'zod';
import { actor, agentId, auditReason, namedTenant, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { instant, ok, ordinal } from '../values.ts';

const reason = auditReason;
const name = z.string().meta({ description: 'The name of the secret in its tenant', examples: ['crm'] });
const agents = z.array(agentId).meta({ description: 'The agents whose tools send it' });

/** A secret of a tenant as operators are told of it: never what it is. */
export const operatorSecret = z.object({
  tenantId,
  name,
  version: ordinal.meta({ description: 'From 1, and one more each time that it is set' }),
  createdAt: instant.meta({ description: 'Since when it is this version' }),
  createdBy: actor.meta({ description: 'Who set this version' }),
  agents,
});

export type OperatorSecret = z.infer<typeof operatorSecret>;

export const operatorSecrets = z.object({
  tenants: z.array(namedTenant).meta({ description: 'The tenants that are shown' }),
  secrets: z.array(operatorSecret).meta({ description: 'Their secrets, without what they are' }),
  missing: z
    .array(z.object({ tenantId, name, agents }))
    .meta({ description: 'Names that tools send and nobody has set: those tools fail' }),
});

export const secretFilters = z.object({ tenantId: tenantAsked.optional() });

/** What else is wrong with a name or a value is told by the same rules as the command's. */
export const setSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose secret it is' }),
  name: name.meta({ description: 'What tools name it by: 1 to 64 letters, digits, hyphens and underscores' }),
  value: z.string().meta({
    description: 'What it is: 1 to 1,024 printable ASCII characters, which nobody is shown again',
    examples: ['sk_live_4f1c0e8b7d2a'],
  }),
  reason,
});

export const setSecretReply = z.object({
  secret: operatorSecret.meta({ description: 'The secret, without what it is' }),
});

export const deleteSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose secret it is' }),
  reason,
});

export const deleteSecretReply = z.object({ ok });

export const signingSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'Whose signing secret it is' }),
  reason,
});

export const signingSecretReply = z.object({
  secret: z.string().meta({
    description: 'What requests to the tenant’s tools are signed with, shown this once',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
  }),
});
