import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { soon } from '../support/soon.ts';
import { endServer, freePort, startServer } from '../support/services/server-process.ts';
import { startWatchdog } from '../support/services/watchdog.ts';
import { serviceToken, siteKey, World } from '../support/world.ts';

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, new URL('../../config/', import.meta.url)));

const findPromtool = (): string => findBinary('promtool', 'prometheus');
const reason = reasonToSkip(findPromtool);

let world: World;

beforeAll(async () => {
  // Nothing is asked at this address: setting it makes the metrics that compare the bill appear.
  world = await World.start({ OPENAI_ADMIN_KEY: 'sk-admin-of-the-tests', OPENAI_ADMIN_BASE_URL: 'http://127.0.0.1:9' });
});
afterAll(() => world.close());

/** The metrics of a server on which a session was opened. */
async function scrape(): Promise<string> {
  const opened = await world.visitor().post('/api/session', { widgetKey: siteKey, agentId: 'support' });
  expect(opened.status, opened.text).toBe(200);
  return (await world.backend().get('/metrics')).text;
}

describe.skipIf(reason !== undefined)(`To Prometheus ${reason ?? ''}`, () => {
  test('the alert rules are valid, and alert when they should', async () => {
    for (const [command, name] of [
      ['check', 'prometheus-rules.yaml'],
      ['test', '../test/e2e/prometheus-rules.test.yaml'],
    ] as const)
      expect((await run(findPromtool(), [command, 'rules', pathOf(name)])).stdout).toContain('SUCCESS');
  });

  test('the metrics have valid names and help texts', async () => {
    const checking = run(findPromtool(), ['check', 'metrics']);
    checking.child.stdin?.end((await scrape()).replaceAll(/^.*(?:nodejs|process)_.*\n/gm, ''));
    await expect(checking).resolves.toMatchObject({ stderr: '' });
  });
});

describe.skipIf(reason !== undefined)(`The Prometheus of config/compose.yaml ${reason ?? ''}`, () => {
  test('reads a node’s metrics with the service token, and loads the rules', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-prometheus-'));
    const watchdog = startWatchdog(directory, 'TERM');
    const token = join(directory, 'token');
    await writeFile(token, serviceToken);
    await copyFile(pathOf('prometheus-rules.yaml'), join(directory, 'prometheus-rules.yaml'));
    // The file names the nodes of its own network: here one node replaces them, and is scraped every second.
    const file = (await readFile(pathOf('observe/prometheus.yaml'), 'utf8'))
      .replace("'node1:3000', 'node2:3000', 'node3:3000'", `'127.0.0.1:${world.server.port}'`)
      .replace('/run/secrets/metrics-token', token)
      .replaceAll(': 15s', ': 1s');
    expect(file).not.toMatch(/node1|run.secrets|15s/);
    await writeFile(join(directory, 'prometheus.yml'), file);
    const [address, storage] = [`127.0.0.1:${await freePort()}`, join(directory, 'data')];
    const flags = [
      `--config.file=${directory}/prometheus.yml`,
      `--storage.tsdb.path=${storage}`,
      `--web.listen-address=${address}`,
    ];
    const server = await startServer(findBinary('prometheus', 'prometheus'), flags, /Server is ready/);
    watchdog.watch([server]);
    const ask = async (path: string): Promise<unknown> => (await fetch(`http://${address}/api/v1/${path}`)).json();
    await vi.waitFor(
      async () =>
        expect(await ask('query?query=switchboard_build_info')).toMatchObject({
          data: { result: [{ metric: { job: 'switchboard' } }] },
        }),
      soon,
    );
    const { data } = (await ask('rules')) as { data: { groups: { name: string }[] } };
    expect(data.groups.map(({ name }) => name)).toContain('switchboard-money');
    await endServer(server, 'SIGTERM');
    await watchdog.bite();
  });
});

describe('The alert rules and the dashboard', () => {
  test.each(['prometheus-rules.yaml', 'grafana-dashboard.json'])('%s ask only for metrics that exist', async (name) => {
    const told = new Set(
      [...(await scrape()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, metric = '', type]) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => metric + end) : [metric],
      ),
    );
    const asked = [...(await readFile(pathOf(name), 'utf8')).matchAll(/\b(?:switchboard|nodejs|process)_\w+/g)];
    expect(asked.length).toBeGreaterThan(10);
    expect(asked.map(([metric]) => metric).filter((metric) => !told.has(metric))).toEqual([]);
  });

  test('lay out panels that do not overlap', async () => {
    const { panels } = JSON.parse(await readFile(pathOf('grafana-dashboard.json'), 'utf8')) as {
      panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
    };
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});
