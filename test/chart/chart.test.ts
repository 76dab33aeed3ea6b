import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { variables } from '../../config/variables.ts';
import { apiDocument } from '../../src/http/routes/all.ts';
import { chart, read, reasonToSkipChart, render, type Manifest } from './render.ts';
import { valuesSchema } from './values-schema.ts';
import { everything, example } from './values.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const names = new Set(variables.map(({ name }): string => name));
const templates = readdirSync(join(chart, 'templates'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.includes('.'))
  .map((name) => read(`templates/${name}`))
  .join('\n');

/** To update these files: `npx vitest run test/chart -u`. */
describe('The files that belong to the chart are up to date', () => {
  test('values.schema.json says what the table of variables says', async () => {
    const text = `${JSON.stringify(valuesSchema(), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot(join(chart, 'values.schema.json'));
  });

  test.skipIf(reasonToSkipChart)(
    `config/kubernetes.yaml is the chart with the values of its example ${reasonToSkipChart ?? ''}`,
    async () => {
      const file = join(root, 'config/kubernetes.yaml');
      const [head = ''] = readFileSync(file, 'utf8').split('\n---\n', 1);
      const documents = Object.entries(render(example).files)
        .filter(([name, text]) => /^[\w-]+\.yaml$/.test(name) && text.trim() !== '')
        .map(([, text]) => `---\n${text.trim()}\n`);
      await expect(`${head}\n${documents.join('')}`).toMatchFileSnapshot(file);
    },
  );

  test('Chart.yaml has the version of the package twice', () => {
    expect(read('Chart.yaml')).toContain(`\nversion: ${manifest.version}\nappVersion: '${manifest.version}'\n`);
  });

  test('values.schema.json has only patterns that Go understands too', () => {
    expect(read('values.schema.json')).not.toMatch(/\(\?[=!<]|\\\\[ukp1-9]/);
  });
});

describe('The chart agrees with the service', () => {
  test('in the names of variables', () => {
    const named = [...templates.matchAll(/name: ([A-Z][A-Z_]+),|"variable" "(\w+)"|config\.([A-Z_]+)/g)];
    const used = new Set(named.map(([, ...groups]) => groups.find(Boolean) ?? ''));
    // The chart's test script has two variables of its own.
    for (const own of ['SERVICE', 'OWN']) expect(used.delete(own)).toBe(true);
    expect(used).toContain('DATABASE_URL');
    expect([...used].filter((name) => !names.has(name))).toEqual([]);
  });

  test('in the paths that probes and tests request', () => {
    const paths = [...templates.matchAll(/path: (\/[a-z]+)/g)].map(([, path = '']) => path);
    const served = Object.keys((apiDocument('https://voice.example.com') as { readonly paths: object }).paths);
    expect(new Set(paths)).toEqual(new Set(['/healthz', '/readyz', '/metrics']));
    expect(paths.filter((path) => !served.includes(path))).toEqual([]);
  });

  test('in the port, and in the user and the folder of the image', () => {
    const image = textOf('Dockerfile');
    const port = variables.find(({ name }) => name === 'PORT')?.default;
    expect(image).toContain(`\nEXPOSE ${String(port)}\n`);
    expect(image).toContain('\nUSER 1000:1000\n');
    expect(image).toContain('DATA_DIR=/data');
    const ports = [...templates.matchAll(/(?:containerPort|port|localhost): ?(\d+)/g)].map(([, found]) => found);
    expect(new Set(ports.filter((found) => found !== '53' && found !== '443'))).toEqual(new Set([port]));
  });

  test('in the time that a stop takes', () => {
    const seconds = (name: RegExp): number => Number(name.exec(templates)?.[1]);
    const DRAIN_SEC = 10;
    const grace = seconds(/terminationGracePeriodSeconds: (\d+)/);
    expect(grace).toBeGreaterThanOrEqual(seconds(/\[sleep, '(\d+)'\]/) + DRAIN_SEC);
    expect(textOf('docs/operations.md')).toContain('exits with 0, within ten seconds');
  });
});

describe.skipIf(reasonToSkipChart)(`The rendered chart ${reasonToSkipChart ?? ''}`, () => {
  const known: Readonly<Record<string, string>> = {
    Deployment: 'apps/v1',
    Service: 'core/v1',
    Secret: 'core/v1',
    ConfigMap: 'core/v1',
    Pod: 'core/v1',
    PodDisruptionBudget: 'policy/v1',
    Ingress: 'networking/v1',
    NetworkPolicy: 'networking/v1',
    HorizontalPodAutoscaler: 'autoscaling/v2',
    Job: 'batch/v1',
  };
  /** Kinds of other projects, for which there are no types. */
  const others = ['HTTPRoute', 'ServiceMonitor', 'PrometheusRule'];
  const all = (values: Parameters<typeof render>[0]): Manifest[] => Object.values(render(values).objects).flat();

  test('makes objects that have only fields of Kubernetes', () => {
    const objects = [...all(everything), ...all({ ...example, autoscaling: { enabled: false } })];
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set([...Object.keys(known), ...others]));
    const types = join(root, 'node_modules/kubernetes-types');
    const lines = objects.flatMap((object, index) => {
      const module = known[object.kind];
      if (module === undefined) return [];
      const type = `import('${types}/${module}').${object.kind}`;
      return [`export const object${index}: ${type} = ${JSON.stringify(object, null, 1)};`];
    });
    expect(compile(lines)).toBe('');
    expect(compile(lines.map((line) => line.replace('"spec": {', '"spec": { "replicaz": 3,')))).toContain('replicaz');
  });

  test('installs as a release of any name, and as two in one namespace', () => {
    const nameOf = (release: string): string | undefined =>
      render(example, release).objects['service.yaml']?.[0]?.metadata.name;
    expect(['switchboard', 'voice', 'my-switchboard'].map(nameOf)).toEqual([
      'switchboard',
      'voice-switchboard',
      'my-switchboard',
    ]);
  });

  /** The compiler's messages about a file with these lines. */
  function compile(lines: readonly string[]): string {
    const folder = mkdtempSync(join(inject('runDirectory'), 'manifests-'));
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    const settings = '--strict --noEmit --skipLibCheck --module esnext --moduleResolution bundler --types'.split(' ');
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    try {
      return execFileSync(process.execPath, [compiler, ...settings, '', 'manifests.ts'], {
        cwd: folder,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    } catch (error) {
      return (error as { readonly stdout: string }).stdout;
    }
  }
});
