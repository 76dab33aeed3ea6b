import { z } from 'zod';
import { namedTenant, nodeId, tenantId, version } from '../fields.ts';
import { instant, inUnit } from '../values.ts';

/** GET /api/operator/me: who the operator is and what they may do (docs/contract.md, section 8). */
export const operatorMe = z.object({
  email: z
    .string()
    .meta({ description: 'The e-mail address, or the name of the service token', examples: ['ops@example.com'] }),
  role: z.enum(['operator', 'service', 'viewer', 'tenant_admin']).meta({
    description:
      'The role. `operator` and `service` see and change everything, `viewer` sees everything, `tenant_admin` sees and changes what belongs to its tenants',
  }),
  tenants: z
    .union([z.literal('*'), z.array(tenantId)])
    .meta({ description: 'The tenants whose sessions are shown; `*` means all' }),
  tenantNames: z
    .array(namedTenant)
    .meta({ description: 'The tenants that are shown and still exist, by name; at most 500' }),
  can: z.array(z.enum(['see', 'change', 'see-installation', 'change-installation'])).meta({
    description:
      'What is permitted: `see` and `change` for what belongs to tenants, and the others for the whole installation',
  }),
  now: instant.meta({ description: 'The time at the server' }),
  timeZone: z.string().meta({ description: 'The time zone of the usage day (QUOTA_TIMEZONE)', examples: ['UTC'] }),
  version,
  retention: z
    .record(z.string(), z.int().min(0).meta(inUnit('days', 400)))
    .meta({ description: 'How many days each kind of data is kept; 0 means for ever' }),
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
          .meta({ description: 'The value in force; null for secrets, and if nothing is set', examples: ['15'] }),
        isSecret: z.boolean().meta({ description: 'Whether it is secret, so that its value is never shown' }),
        isSet: z.boolean().meta({ description: 'Whether it is set explicitly' }),
        default: z.string().meta({ description: 'The default, in words', examples: ['15'] }),
      }),
    )
    .meta({ description: 'All variables, in the order of the table in docs/operations.md' }),
  differs: z.array(variable).meta({
    description: 'Variables whose values differ between nodes; `nodes` shows which nodes differ',
  }),
  nodes: z
    .array(
      z.object({
        id: nodeId.meta({ description: 'The id of the process' }),
        host: z.string().meta({ description: 'The name of the host', examples: ['voice-2'] }),
        isSame: z.boolean().meta({ description: 'Whether its settings equal those of the process that answers' }),
      }),
    )
    .meta({ description: 'The running processes, and whether each has the same settings as the one that answers' }),
});

export type OperatorSettings = z.infer<typeof operatorSettings>;
