import { z } from 'zod';
import type { Variable } from '../../config/variable.ts';
import { variables } from '../../config/variables.ts';

/** Variables that the image or another value of the chart decides. */
const ofTheChart = new Set([
  'NODE_ENV',
  'HOST',
  'PORT',
  'DATA_DIR',
  'TENANTS_FILE',
  'MIGRATE',
  'DATABASE_URL',
  'REDIS_URL',
]);

/** The variables that `config` may hold: none that is wholly secret. Addresses must not contain a user, a password or a query. */
export const configurable: readonly Variable[] = variables.filter(
  ({ name, secret }) => secret !== 'all' && !ofTheChart.has(name),
);

/** The value of a variable: text, which in YAML may also be written as a number or a boolean. */
function settingOf({ schema, secret, meaning }: Variable): z.ZodType {
  const { pattern, enum: choices } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return z.any().meta({ description: meaning, ...formOf(pattern, choices, secret !== false) });
}

function formOf(pattern: string | undefined, choices: readonly unknown[] | undefined, isAddress: boolean): object {
  if (choices?.includes('true') === true) return { enum: [true, false, 1, 0, ...choices] };
  if (choices !== undefined) return { enum: choices };
  const rule = isAddress ? '^[^@?]*$' : pattern;
  return { type: ['string', 'number'], ...(rule === undefined ? {} : { pattern: rule }) };
}

const texts = z.record(z.string(), z.string());
const labels = texts;
const secretKey = z.strictObject({ name: z.string(), key: z.string().min(1) });
const store = z.strictObject({ url: z.string(), existingSecret: secretKey });
const port = z.int().min(1).max(65_535);
const free = z.looseObject({});

const values = z.strictObject({
  /** Helm passes this to charts within other charts. */
  global: free.optional(),
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
    pullSecrets: z.array(z.strictObject({ name: z.string().min(1) })),
  }),
  replicas: z.int().min(0),
  resources: free,
  nodeSelector: texts,
  topologySpread: z.array(z.string().min(1)),
  existingSecret: z.string(),
  config: z
    .strictObject(Object.fromEntries(configurable.map((variable) => [variable.name, settingOf(variable).optional()])))
    .meta({
      description:
        'Variables of docs/operations.md. Secrets, and addresses with a password, belong into the Secret that existingSecret names.',
    }),
  tenants: z.strictObject({ inline: free, existingConfigMap: z.string() }),
  postgres: store,
  redis: store,
  migrations: z.enum(['start', 'job']),
  service: z.strictObject({ port, annotations: texts }),
  ingress: z.strictObject({
    enabled: z.boolean(),
    className: z.string().min(1),
    tlsSecret: z.string(),
    annotations: texts,
  }),
  gateway: z.strictObject({ enabled: z.boolean(), parentRefs: z.array(free), annotations: texts }),
  autoscaling: z.strictObject({
    enabled: z.boolean(),
    minReplicas: z.int().min(1),
    maxReplicas: z.int().min(1),
    cpu: z.int().min(1),
    connections: z.int().min(0),
  }),
  networkPolicy: z.strictObject({
    enabled: z.boolean(),
    from: z.array(free),
    ports: z.array(port),
    egress: z.array(free),
  }),
  serviceMonitor: z.strictObject({
    enabled: z.boolean(),
    interval: z.string().regex(/^\d+(?:ms|s|m|h)$/),
    labels,
    tokenSecret: secretKey,
  }),
  rules: z.strictObject({ enabled: z.boolean(), labels }),
  dashboard: z.strictObject({ enabled: z.boolean(), labels }),
});

/** charts/switchboard/values.schema.json (JSON Schema, draft 7), against which Helm checks values before it renders anything. */
export function valuesSchema(): object {
  return z.toJSONSchema(values, { target: 'draft-7', io: 'input' });
}
