import { z } from 'zod';
import { count, instant } from '../values.ts';

/** GET /api/operator/me: who operates, and what they may do (docs/contract.md, section 8). */
export const operatorMe = z.object({
  email: z.string().meta({ description: 'Their address, or the name of their service token' }),
  role: z.enum(['operator', 'service', 'viewer', 'tenant_admin']),
  tenants: z
    .union([z.literal('*'), z.array(z.string())])
    .meta({ description: 'Whose sessions are shown; `*` is everybody’s' }),
  tenantNames: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .meta({ description: 'The tenants that are shown and still there, by name; at most 500' }),
  can: z.array(z.enum(['see', 'change', 'see-installation', 'change-installation'])),
  now: instant,
  timeZone: z.string().meta({ description: 'QUOTA_TIMEZONE: where the day of usage begins' }),
  version: z.string(),
  retention: z.record(z.string(), count).meta({ description: 'Days for which things are kept; 0 is for ever' }),
});

export type OperatorMe = z.infer<typeof operatorMe>;

/** GET /api/operator/settings. */
export const operatorSettings = z.object({
  settings: z.array(
    z.object({
      name: z.string(),
      value: z.string().nullable().meta({ description: 'null for secrets, and where nothing is set' }),
      isSecret: z.boolean(),
      isSet: z.boolean(),
      default: z.string().meta({ description: 'What holds where it is not set, in words' }),
    }),
  ),
  differs: z.array(z.string()).meta({
    description: 'Variables that not all nodes have the same value of; `nodes` tells which are set otherwise',
  }),
  nodes: z
    .array(z.object({ id: z.string(), host: z.string(), isSame: z.boolean() }))
    .meta({ description: 'The processes that are here, and whether each is set as the one that answers' }),
});

export type OperatorSettings = z.infer<typeof operatorSettings>;
