import { describe, expect, test } from 'vitest';
import { faultsOf, read, reasonToSkipChart, render, renderUnchecked, type Values } from './render.ts';
import { configurable } from './values-schema.ts';
import { everything, example } from './values.ts';

type Change = (values: typeof example) => Values;

/** The example with some values replaced. */
const but = (more: Values): Values => ({ ...example, ...more });
const withConfig = (config: Values): Values => but({ config: { ...example.config, ...config } });
const textOf = (name: string, values: Values): string => render(values).files[name]?.trim() ?? '';
const deployment = (values: Values): string => textOf('deployment.yaml', values);

describe.skipIf(reasonToSkipChart)(`The values of the chart ${reasonToSkipChart ?? ''}`, () => {
  test('are complete except for stores and tenants, which have no default', () => {
    expect(() => render({ existingSecret: 'switchboard' })).toThrow('tenants are required');
    expect(() => render({ tenants: example.tenants })).toThrow(
      'postgres is required: set postgres.url or postgres.existingSecret.name, or existingSecret to a Secret with the key DATABASE_URL',
    );
    expect(() => render({ tenants: example.tenants, postgres: { url: 'postgres://db/x' } })).toThrow(
      'redis is required',
    );
    const least = { tenants: example.tenants, existingSecret: 'switchboard' };
    expect(Object.keys(render(least).objects)).toEqual([
      'deployment.yaml',
      'networkpolicy.yaml',
      'poddisruptionbudget.yaml',
      'service.yaml',
      'tests/test.yaml',
    ]);
  });

  test('of the example are those of its file', () => {
    const text = read('example-values.yaml').replaceAll(/^ *#.*\n/gm, '');
    const flat = (values: Values): string[] =>
      Object.entries(values).flatMap(([name, value]) =>
        typeof value === 'object' ? flat(value as Values) : [`${name}: ${value as string}`],
      );
    expect([...text.matchAll(/(\w+): ([^{}\n]+?)(?: \}|\n)/g)].map(([, name, value]) => `${name}: ${value}`)).toEqual(
      flat(example),
    );
  });

  test.each<[string, Values]>([
    ['an unknown one', but({ replica: 3 })],
    ['an unknown variable', withConfig({ PUBLIC_ULR: 'https://voice.example.com' })],
    ['a choice that a variable does not have', withConfig({ CALL_MODE: 'broker' })],
    ['a variable in a form that it does not have', withConfig({ MAX_CONNECTIONS: 'many' })],
    ['a secret among the variables', withConfig({ JWT_SECRET: 'x'.repeat(40) })],
    ['a password in an address', withConfig({ UPSTREAM_BASE_URL: 'https://me:pass@gateway.example.com' })],
    ['what another value decides', withConfig({ MIGRATE: 'never' })],
    ['a third way to migrate', but({ migrations: 'never' })],
  ])('are refused by the schema: %s', (_what, values) => {
    const found = faultsOf(renderUnchecked(values).values);
    expect(found).not.toEqual([]);
    expect(() => render(values)).toThrow(found[0]);
  });

  test.each(['ingress', 'gateway'])(
    'of %s are refused without TRUST_PROXY and without PUBLIC_URL, with the reason',
    (door) => {
      const open = {
        ingress: { enabled: false },
        [door]: { enabled: true, ...(door === 'gateway' && { parentRefs: [{ name: 'public' }] }) },
      };
      const { PUBLIC_URL, TRUST_PROXY } = example.config;
      const refusal = (config: Values) => () => render(but({ ...open, config }));
      expect(refusal({ PUBLIC_URL })).toThrow('config.TRUST_PROXY is required with ingress or gateway');
      expect(refusal({ TRUST_PROXY })).toThrow('config.PUBLIC_URL is required with ingress or gateway');
      expect(refusal({ PUBLIC_URL, TRUST_PROXY })).not.toThrow();
    },
  );

  test('never bring a secret into a ConfigMap or into a pod', () => {
    expect(configurable.filter(({ secret }) => secret === 'all')).toEqual([]);
    const { objects } = render(
      but({ ...everything, postgres: { url: 'postgres://me:pg-password@db/x' }, migrations: 'start' }),
    );
    const holders = Object.values(objects)
      .flat()
      .filter((object) => /pg-password|redis-password/.test(JSON.stringify(object)));
    expect(holders.map(({ kind }) => kind)).toEqual(['Secret']);
  });

  test('become variables without losing anything: large numbers, booleans, quotes', () => {
    const env = deployment(
      withConfig({
        MAX_CONNECTIONS: 10_000_000,
        DEBUG_METRICS: true,
        BOT_MIN_SCORE: 0.7,
        MAIL_FROM: 'Ann "A" <a@b.example>',
      }),
    );
    expect(env).toContain('{ name: MAX_CONNECTIONS, value: "10000000" }');
    expect(env).toContain('{ name: DEBUG_METRICS, value: "true" }');
    expect(env).toContain('{ name: BOT_MIN_SCORE, value: "0.7" }');
    expect(env).toContain('{ name: MAIL_FROM, value: "Ann \\"A\\" <a@b.example>" }');
  });

  test.each<[string, string, Change, string]>([
    ['image', 'deployment.yaml', () => but({ image: { repository: 'r.example/s', tag: '2' } }), 'image: r.example/s:2'],
    [
      'image.pullSecrets',
      'deployment.yaml',
      () => but({ image: { pullSecrets: [{ name: 'reg' }] } }),
      'imagePullSecrets: [{"name":"reg"}]',
    ],
    ['replicas', 'deployment.yaml', () => but({ replicas: 5 }), 'replicas: 5'],
    ['resources', 'deployment.yaml', () => but({ resources: { requests: { cpu: 1 } } }), 'cpu: 1\n'],
    [
      'nodeSelector',
      'deployment.yaml',
      () => but({ nodeSelector: { disk: 'fast' } }),
      'nodeSelector:\n        disk: fast',
    ],
    ['topologySpread', 'deployment.yaml', () => but({ topologySpread: ['zone'] }), 'topologyKey: zone'],
    ['existingSecret', 'deployment.yaml', () => but({ existingSecret: 'mine' }), '- secretRef: { name: "mine" }'],
    [
      'tenants.existingConfigMap',
      'deployment.yaml',
      () => but({ tenants: { existingConfigMap: 'mine' } }),
      'configMap: { name: "mine" }',
    ],
    [
      'tenants.inline',
      'deployment.yaml',
      () => but({ tenants: { inline: { tenants: [] } } }),
      'configMap: { name: "switchboard-tenants" }',
    ],
    [
      'postgres.existingSecret',
      'deployment.yaml',
      () => but({ postgres: { existingSecret: { name: 'db-app' } } }),
      'secretKeyRef: { name: "db-app", key: "uri" }',
    ],
    [
      'redis.existingSecret',
      'deployment.yaml',
      () => but({ redis: { existingSecret: { name: 'v', key: 'k' } } }),
      'secretKeyRef: { name: "v", key: "k" }',
    ],
    [
      'redis.url',
      'deployment.yaml',
      () => but({ redis: { url: 'redis://v:6379' } }),
      'secretKeyRef: { name: switchboard-stores, key: REDIS_URL }',
    ],
    [
      'service.annotations',
      'service.yaml',
      () => but({ service: { annotations: { a: 'b' } } }),
      'annotations:\n    a: b',
    ],
    [
      'ingress.className',
      'ingress.yaml',
      () => but({ ingress: { enabled: true, className: 'traefik' } }),
      'ingressClassName: "traefik"',
    ],
    [
      'ingress.tlsSecret',
      'ingress.yaml',
      () => example,
      '- hosts: [voice.example.com]\n      secretName: "voice-example-com-tls"',
    ],
    ['gateway', 'httproute.yaml', () => everything, 'namespace: gateways\n  hostnames: [voice.example.com]'],
    [
      'autoscaling.cpu',
      'horizontalpodautoscaler.yaml',
      () => but({ autoscaling: { enabled: true } }),
      'averageUtilization: 60',
    ],
    ['autoscaling.connections', 'horizontalpodautoscaler.yaml', () => everything, 'averageValue: "10000"'],
    ['networkPolicy.egress', 'networkpolicy.yaml', () => everything, '- ports:\n      - port: 4318'],
    [
      'config.OUTBOUND_ALLOW_PORTS',
      'networkpolicy.yaml',
      () => withConfig({ OUTBOUND_ALLOW_PORTS: '8443' }),
      '- { port: 443 }\n        - { port: 8443 }',
    ],
    [
      'config.OUTBOUND_ALLOW_CIDRS',
      'networkpolicy.yaml',
      () => withConfig({ OUTBOUND_ALLOW_CIDRS: '10.2.0.1, fd00::/8' }),
      'cidr: "10.2.0.1/32" }\n        - ipBlock: { cidr: "fd00::/8" }',
    ],
    ['serviceMonitor', 'servicemonitor.yaml', () => everything, 'name: "switchboard-token"'],
    ['serviceMonitor.labels', 'servicemonitor.yaml', () => everything, '    release: prometheus'],
    ['dashboard.labels', 'dashboard.yaml', () => everything, 'grafana_dashboard: "1"'],
  ])('of %s reach the object that they are for', (_name, file, change, line) => {
    expect(textOf(file, change(example))).toContain(line);
  });

  test('of migrations may be job: then a Job migrates before pods are replaced, and pods never migrate', () => {
    const { files } = render(everything);
    expect(files['migrate.yaml']).toContain('helm.sh/hook: pre-install,pre-upgrade');
    expect(files['migrate.yaml']).toContain('command: [node, dist/main.js, migrate]');
    expect(files['deployment.yaml']).toContain('{ name: MIGRATE, value: never }');
    expect(deployment(example)).not.toContain('MIGRATE');
    const early = but({ migrations: 'job', postgres: { url: 'postgres://db/x' } });
    expect(() => render(early)).toThrow("job runs before the chart's own Secret is there");
  });

  test('of autoscaling leave the number of pods to it alone, which removes one in five minutes', () => {
    const scaled = render(but({ autoscaling: { enabled: true } })).files;
    expect(scaled['deployment.yaml']).not.toContain('replicas:');
    expect(scaled['horizontalpodautoscaler.yaml']).toContain('[{ type: Pods, value: 1, periodSeconds: 300 }]');
    expect(scaled['horizontalpodautoscaler.yaml']).not.toContain('switchboard_connections_open');
  });

  test('of stores replace the pods when they change, and those of tenants do not', () => {
    const at = (more: Values): string => deployment({ ...everything, ...more });
    expect(at({ redis: { url: 'redis://other:6379' } })).not.toBe(at({}));
    expect(at({ tenants: { inline: { tenants: [{ id: 'other' }] } } })).toBe(at({}));
  });

  test('of serviceMonitor need a token, and those of gateway need gateways', () => {
    expect(() => render(but({ serviceMonitor: { enabled: true } }))).toThrow(
      'serviceMonitor.tokenSecret.name is required',
    );
    expect(() => render(but({ gateway: { enabled: true } }))).toThrow('gateway.parentRefs is required');
  });

  test('of rules and dashboard become the files of config/', () => {
    const { objects } = render(everything) as unknown as {
      readonly objects: {
        readonly 'prometheusrule.yaml': readonly [{ readonly spec: { readonly groups: readonly { name: string }[] } }];
        readonly 'dashboard.yaml': readonly [{ readonly data: Readonly<Record<string, string>> }];
      };
    };
    const [{ spec }] = objects['prometheusrule.yaml'];
    const names = [...read('../../config/prometheus-rules.yaml').matchAll(/^ {2}- name: (.+)$/gm)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(0);
    expect(spec.groups.map(({ name }) => name)).toEqual(names);
    const [{ data }] = objects['dashboard.yaml'];
    const file = read('../../config/grafana-dashboard.json');
    expect(JSON.parse(data['switchboard.json'] ?? '')).toEqual(JSON.parse(file));
  });

  test('let the network policy admit what is needed, and its absence admit everything', () => {
    const policy = textOf('networkpolicy.yaml', example);
    for (const namespace of ['ingress-nginx', 'monitoring'])
      expect(policy).toContain(`kubernetes.io/metadata.name: ${namespace}`);
    // The ports of DNS, PostgreSQL, Redis, mail and the provider, as in the examples of the table of variables.
    for (const port of [53, 5432, 6379, 465, 587, 443]) expect(policy).toContain(`port: ${port}`);
    expect(policy).toContain('except: [10.0.0.0/8');
    expect(textOf('networkpolicy.yaml', but({ networkPolicy: { enabled: false } }))).toBe('');
  });

  test('leave nobody and nothing in the network policy where they are empty, not everybody and everything', () => {
    const { objects } = render(but({ networkPolicy: { from: [], ports: [] } }));
    expect(objects['networkpolicy.yaml']).toMatchObject([
      {
        spec: {
          ingress: [{ from: [{ podSelector: {} }] }],
          egress: [{ ports: [{ port: 53 }, { port: 53 }] }, { ports: [{ port: 443 }], to: [{ ipBlock: {} }, {}] }],
        },
      },
    ]);
  });

  test('keep every character of the tenants file', () => {
    const inline = { tenants: [{ name: 'a\u0085b: "c"\n- d\u2028e' }] };
    const [object] = render(but({ tenants: { inline } })).objects['tenants.yaml'] ?? [];
    expect(Object.keys(object ?? {})).toEqual(['apiVersion', 'data', 'kind', 'metadata']);
    const { data } = object as unknown as { readonly data: Readonly<Record<string, string>> };
    expect(JSON.parse(data['tenants.json'] ?? '')).toEqual(inline);
  });

  test.each([
    ['voice.eu', 'voice-eu-switchboard'],
    ['true', 'true-switchboard'],
    [`${'x'.repeat(51)}.y`, 'x'.repeat(51)],
    [`${'x'.repeat(50)}--y`, 'x'.repeat(50)],
    ['2030', 'switchboard-2030'],
    ['2-switchboard', 'switchboard-2-switchboard'],
  ])('of any release make names and labels that a cluster takes: %s', (release, name) => {
    const [service] = render(example, release).objects['service.yaml'] ?? [];
    expect(service?.metadata).toMatchObject({ name, labels: { 'app.kubernetes.io/instance': release } });
  });

  test('name the objects of the cluster as text, also where a name is a number', () => {
    const digits = { name: '123', key: '456' };
    const { objects } = render({
      ...everything,
      existingSecret: '123',
      tenants: { existingConfigMap: '123' },
      postgres: { existingSecret: digits },
      ingress: { enabled: true, className: '123', tlsSecret: '123' },
      serviceMonitor: { enabled: true, tokenSecret: digits },
    });
    const text = JSON.stringify(Object.values(objects));
    expect(text.match(/"123"/g)?.length).toBeGreaterThanOrEqual(8);
    expect(text).not.toMatch(/:(123|456)\b/);
  });

  test.each(['OUTBOUND_ALLOW_CIDRS', 'OUTBOUND_ALLOW_PORTS'])(
    'are refused where entries of %s have only spaces between them, as the service refuses them',
    (name) => {
      const [one, other] = name.endsWith('PORTS') ? ['8443', '9443'] : ['10.2.0.0/16', 'fd00::/8'];
      expect(() => render(withConfig({ [name]: `${one} ${other}` }))).toThrow(
        `config.${name} is separated by spaces alone: put commas between its entries`,
      );
      expect(() => render(withConfig({ [name]: ` ${one} , ${other}, ` }))).not.toThrow();
    },
  );

  test('put nothing but the service behind its address', () => {
    const { objects } = render(everything);
    const beside = [...(objects['migrate.yaml'] ?? []), ...(objects['tests/test.yaml'] ?? [])];
    expect(beside).toHaveLength(2);
    expect(JSON.stringify(beside)).not.toContain('"app":');
    expect(JSON.stringify(objects['service.yaml'])).toContain('"selector":{"app":"switchboard"}');
  });

  test('leave every pod without rights: not root, nothing to write, no token of the cluster', () => {
    const { files } = render(everything);
    for (const name of ['deployment.yaml', 'migrate.yaml', 'tests/test.yaml'])
      for (const line of [
        'runAsNonRoot: true',
        'readOnlyRootFilesystem: true',
        'automountServiceAccountToken: false',
        'drop: [ALL]',
      ])
        expect(files[name], name).toContain(line);
  });
});
