import { z } from 'zod';
import { actor, agentId, auditReason, namedTenant, tenantAsked, tenantId, tenantNamed } from '../fields.ts';
import { instant, ok, ordinal } from '../values.ts';

const reason = auditReason;
const name = z.string().meta({ description: 'The name of the secret in its tenant', examples: ['crm'] });
const agents = z.array(agentId).meta({ description: 'The agents whose tools send it' });

/** A tenant's secret as operators see it: never its value. */
export const operatorSecret = z.object({
  tenantId,
  name,
  version: ordinal.meta({ description: 'The version, which starts at 1 and increases each time the secret is set' }),
  createdAt: instant.meta({ description: 'When this version was set' }),
  createdBy: actor.meta({ description: 'Who set this version' }),
  agents,
});

export type OperatorSecret = z.infer<typeof operatorSecret>;

export const operatorSecrets = z.object({
  tenants: z.array(namedTenant).meta({ description: 'The tenants that you may see' }),
  secrets: z.array(operatorSecret).meta({ description: 'The secrets of these tenants, without their values' }),
  missing: z
    .array(z.object({ tenantId, name, agents }))
    .meta({ description: 'Secrets that tools use and nobody has set: those tools fail' }),
});

export const secretFilters = z.object({ tenantId: tenantAsked.optional() });

/** Other mistakes in a name or a value are reported by the rules that the command uses too. */
export const setSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant of the secret' }),
  name: name.meta({
    description: 'The name by which tools refer to it: 1 to 64 letters, digits, hyphens and underscores',
  }),
  value: z.string().meta({
    description: 'The value: 1 to 1,024 printable ASCII characters, never shown again',
    examples: ['sk_live_4f1c0e8b7d2a'],
  }),
  reason,
});

export const setSecretReply = z.object({
  secret: operatorSecret.meta({ description: 'The secret, without its value' }),
});

export const deleteSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant of the secret' }),
  reason,
});

export const deleteSecretReply = z.object({ ok });

export const signingSecretRequest = z.strictObject({
  tenantId: tenantNamed.meta({ description: 'The tenant of the signing secret' }),
  reason,
});

export const signingSecretReply = z.object({
  secret: z.string().meta({
    description: 'The secret that signs requests to the tenant’s tools, shown only this once',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
  }),
});
