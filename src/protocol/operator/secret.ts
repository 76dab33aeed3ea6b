import { z } from 'zod';
import { count, instant, ok, text } from '../values.ts';

const reason = z.string().max(500).optional().meta({ description: 'For the audit' });
const agents = z.array(z.string()).meta({ description: 'The agents whose tools send it' });

/** A secret of a tenant as operators are told of it: never what it is. */
export const operatorSecret = z.object({
  tenantId: z.string(),
  name: z.string(),
  version: count.meta({ description: 'From 1, and one more each time that it is set' }),
  createdAt: instant.meta({ description: 'Since when it is this version' }),
  createdBy: z.string(),
  agents,
});

export type OperatorSecret = z.infer<typeof operatorSecret>;

export const operatorSecrets = z.object({
  tenants: z.array(z.object({ id: z.string(), name: z.string() })),
  secrets: z.array(operatorSecret),
  missing: z
    .array(z.object({ tenantId: z.string(), name: z.string(), agents }))
    .meta({ description: 'Names that tools send and nobody has set: those tools fail' }),
});

export const secretFilters = z.object({ tenantId: text(128).optional() });

/** What else is wrong with a name or a value is told by the same rules as the command's. */
export const setSecretRequest = z.strictObject({ tenantId: text(128), name: z.string(), value: z.string(), reason });

export const setSecretReply = z.object({ secret: operatorSecret });

export const deleteSecretRequest = z.strictObject({ tenantId: text(128), reason });

export const deleteSecretReply = z.object({ ok });

export const signingSecretRequest = z.strictObject({ tenantId: text(128), reason });

export const signingSecretReply = z.object({
  secret: z.string().meta({ description: '`whsec_…`, shown this once' }),
});
