import { z } from 'zod';
import { namedTenant, nodeId, tenantId, version } from '../fields.ts';
import { instant, inUnit } from '../values.ts';

/** GET /api/operator/me: who operates, and what they may do (docs/contract.md, section 8). */
export const operatorMe = z.object({
  email: z
    .string()
    .meta({ description: 'Their address, or the name of their service token', examples: ['ops@example.com'] }),
  role: z.enum(['operator', 'service', 'viewer', 'tenant_admin']).meta({
    description:
      '`operator` and `service` see and change everything, `viewer` sees everything, `tenant_admin` what is of its tenants',
  }),
  tenants: z
    .union([z.literal('*'), z.array(tenantId)])
    .meta({ description: 'Whose sessions are shown; `*` is everybody’s' }),
  tenantNames: z
    .array(namedTenant)
    .meta({ description: 'The tenants that are shown and still there, by name; at most 500' }),
  can: z
    .array(z.enum(['see', 'change', 'see-installation', 'change-installation']))
    .meta({ description: 'What they may do: with what is of tenants, and with what is of the whole installation' }),
  now: instant.meta({ description: 'What time it is here' }),
  timeZone: z.string().meta({ description: 'QUOTA_TIMEZONE: where the day of usage begins', examples: ['UTC'] }),
  version,
  retention: z
    .record(z.string(), z.int().min(0).meta(inUnit('days', 400)))
    .meta({ description: 'For how many days things are kept, by what they are; 0 is for ever' }),
});

export type OperatorMe = z.infer<typeof operatorMe>;

const variable = z.string().meta({ examples: ['MAX_SESSION_MINUTES'] });

/** GET /api/operator/settings. */
export const operatorSettings = z.object({
  settings: z
    .array(
      z.object({
        name: variable.meta({ description: 'The name of the variable' }),
        value: z
          .string()
          .nullable()
          .meta({ description: 'What holds; null for secrets, and where nothing is set', examples: ['15'] }),
        isSecret: z.boolean().meta({ description: 'Whether its value is told to nobody' }),
        isSet: z.boolean().meta({ description: 'Whether it is set, rather than left to its default' }),
        default: z.string().meta({ description: 'What holds where it is not set, in words', examples: ['15'] }),
      }),
    )
    .meta({ description: 'All variables, in the order of the table in docs/operations.md' }),
  differs: z.array(variable).meta({
    description: 'Variables that not all nodes have the same value of; `nodes` tells which are set otherwise',
  }),
  nodes: z
    .array(
      z.object({
        id: nodeId.meta({ description: 'The id of the process' }),
        host: z.string().meta({ description: 'The machine on which it runs', examples: ['voice-2'] }),
        isSame: z.boolean().meta({ description: 'Whether its settings equal those of the process that answers' }),
      }),
    )
    .meta({ description: 'The processes that are here, and whether each is set as the one that answers' }),
});

export type OperatorSettings = z.infer<typeof operatorSettings>;
