import { z } from 'zod';
import {
  actor,
  agentId,
  auditReason,
  namedTenant,
  tenantId,
  tenantNamed,
  instant,
  ordinal,
  string,
} from '../fields.ts';

const name = string('The name of the secret in its tenant', 'crm');
const agents = z.array(agentId).describe('The agents whose tools send it');

/** A tenant's secret as operators see it: never its value. */
export const operatorSecret = z.object({
  tenantId,
  name,
  version: ordinal.describe('The version, which starts at 1 and increases each time the secret is set'),
  createdAt: instant.describe('When this version was set'),
  createdBy: actor.describe('Who set this version'),
  agents,
});

export type OperatorSecret = z.infer<typeof operatorSecret>;

export const operatorSecrets = z.object({
  tenants: z.array(namedTenant).describe('The tenants that you may see'),
  secrets: z.array(operatorSecret).describe('The secrets of these tenants, without their values'),
  missing: z
    .array(z.object({ tenantId, name, agents }))
    .describe('Secrets that tools use and nobody has set: those tools fail'),
});

/** Other mistakes in a name or a value are reported by the rules that the command uses too. */
export const setSecretRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant of the secret'),
  name: name.describe('The name by which tools refer to it: 1 to 64 letters, digits, hyphens and underscores'),
  value: string('The value: 1 to 1,024 printable ASCII characters, never shown again', 'sk_live_4f1c0e8b7d2a'),
  reason: auditReason,
});

export const setSecretReply = z.object({ secret: operatorSecret.describe('The secret, without its value') });

export const deleteSecretRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant of the secret'),
  reason: auditReason,
});

export const signingSecretRequest = z.strictObject({
  tenantId: tenantNamed.describe('The tenant of the signing secret'),
  reason: auditReason,
});

export const signingSecretReply = z.object({
  secret: string(
    'The secret that signs requests to the tenant’s tools, shown only this once',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  ),
});
