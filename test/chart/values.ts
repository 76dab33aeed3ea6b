import type { Values } from './render.ts';

/** The content of charts/switchboard/example-values.yaml; a test checks that they are the same. */
export const example = {
  existingSecret: 'switchboard',
  tenants: { existingConfigMap: 'switchboard-tenants' },
  config: { PUBLIC_URL: 'https://voice.example.com', TRUST_PROXY: '10.0.0.0/8' },
  ingress: { enabled: true, tlsSecret: 'voice-example-com-tls' },
} satisfies Values;

/** Values for which the chart makes everything that it can. */
export const everything = {
  ...example,
  image: { tag: '9.9.9', pullSecrets: [{ name: 'registry' }] },
  nodeSelector: { disk: 'fast' },
  tenants: { inline: { tenants: [{ id: 'main', widgetKeys: [] }] } },
  config: { ...example.config, OUTBOUND_ALLOW_CIDRS: '10.20.0.0/16', MAX_CONNECTIONS: 20_000, DEBUG_METRICS: false },
  postgres: { existingSecret: { name: 'db-app' } },
  redis: { url: 'redis://:redis-password@valkey:6379' },
  migrations: 'job',
  service: { annotations: { a: 'b' } },
  gateway: { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }] },
  autoscaling: { enabled: true, connections: 10_000 },
  networkPolicy: { egress: [{ ports: [{ port: 4318 }] }] },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' }, tokenSecret: { name: 'switchboard-token' } },
  rules: { enabled: true },
  dashboard: { enabled: true },
} satisfies Values;
