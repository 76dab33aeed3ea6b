import { z } from 'zod';
import { namedTenant, nodeId, tenantId, version, instant, integer, string } from '../fields.ts';

/** GET /api/operator/me: who the operator is and what they may do (docs/contract.md, section 8). */
export const operatorMe = z.object({
  email: string('The e-mail address, or the name of the service token', 'ops@example.com'),
  role: z
    .enum(['operator', 'service', 'viewer', 'tenant_admin'])
    .describe(
      'The role. `operator` and `service` see and change everything, `viewer` sees everything, `tenant_admin` sees and changes what belongs to its tenants',
    ),
  tenants: z.union([z.literal('*'), z.array(tenantId)]).describe('The tenants whose sessions are shown; `*` means all'),
  tenantNames: z.array(namedTenant).describe('The tenants that are shown and still exist, by name; at most 500'),
  can: z
    .array(z.enum(['see', 'change', 'see-installation', 'change-installation']))
    .describe(
      'What is permitted: `see` and `change` for what belongs to tenants, and the others for the whole installation',
    ),
  now: instant.describe('The time at the server'),
  timeZone: string('The time zone of the usage day (QUOTA_TIMEZONE)', 'UTC'),
  version,
  retention: z
    .record(z.string(), integer('days', 400).min(0))
    .describe('How many days each kind of data is kept; 0 means for ever'),
});

export type OperatorMe = z.infer<typeof operatorMe>;

const variable = z.string().meta({ examples: ['MAX_SESSION_MINUTES'] });

/** GET /api/operator/settings. */
export const operatorSettings = z.object({
  settings: z
    .array(
      z.object({
        name: variable.describe('The name of the variable'),
        value: string('The value in force; null for secrets, and if nothing is set', '15').nullable(),
        isSecret: z.boolean().describe('Whether it is secret, so that its value is never shown'),
        isSet: z.boolean().describe('Whether it is set explicitly'),
        default: string('The default, in words', '15'),
      }),
    )
    .describe('All variables, in the order of the table in docs/operations.md'),
  differs: z.array(variable).describe('Variables whose values differ between nodes; `nodes` shows which nodes differ'),
  nodes: z
    .array(
      z.object({
        id: nodeId.describe('The id of the process'),
        host: string('The name of the host', 'voice-2'),
        isSame: z.boolean().describe('Whether its settings equal those of the process that answers'),
      }),
    )
    .describe('The running processes, and whether each has the same settings as the one that answers'),
});

export type OperatorSettings = z.infer<typeof operatorSettings>;
