import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { migrate } from '../../../src/database/migrate.ts';
import type { Database } from '../../../src/database/database.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { createPostgresTenants } from '../../../src/stores/tenants/postgres.ts';
import type { Tenants, WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { resolveSessionConfig } from '../../../src/tenants/agents.ts';
import { TenantDirectory } from '../../../src/tenants/directory.ts';
import { issueKey } from '../../../src/tenants/keys.ts';
import { mergeTenantsFile } from '../../../src/tenants/watch-file.ts';
import { FakeActs, FakeBus, noBudgets, recorder } from './fakes.ts';

let folder: string;
let file: string;
let database: Database;
let tenants: Tenants;
const bus = new FakeBus();
const clock = { now: () => 42 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenants-'));
  file = join(folder, 'tenants.json');
  database = await openEmbedded({ directory: join(folder, 'postgres') });
  await migrate(database);
  tenants = createPostgresTenants(database);
});

afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const tool = { name: 'look_up', kind: 'http_tool', zeta: [1, { b: 2, a: 1 }], alpha: 'ü "quoted" \\u0000' };
const key = { id: 'site', key: 'w_acme_site', origin: 'https://www.acme.example', allowOverrides: false };

async function merge(more: object): Promise<TenantDirectory> {
  const agents = [{ id: 'guide', instructions: 'Guide.', tools: [tool] }];
  await writeFile(file, JSON.stringify({ tenants: [{ id: 'acme', agents, widgetKeys: [{ ...key, ...more }] }] }));
  await mergeTenantsFile({ file, tenants, dayOf: () => '1970-01-01', bus, clock });
  const directory = new TenantDirectory({
    tenants,
    budgets: noBudgets,
    bus,
    onRevoked: revoked.call,
    onStopped: () => undefined,
    onBudgets: () => undefined,
    onError: () => undefined,
  });
  await directory.reload();
  return directory;
}

const revoked = recorder<readonly WidgetKey[]>();

test("An agent's tools are still equal to themselves after they were in the database", async () => {
  const found = (await merge({})).keyOf('w_acme_site');
  const wish = { agentId: 'guide', instructions: 'Guide.', tools: [tool] };
  const resolve = (tools: (typeof tool)[]) =>
    found && resolveSessionConfig(found.tenant, found.key, { ...wish, tools }, () => 'direct');
  expect(resolve([tool])).toMatchObject({ agentId: 'guide', tools: [tool] });
  expect(resolve([{ ...tool, alpha: 'other' }])).toBeInstanceOf(Refusal);
});

test('An issued key is found, and a later merge of the file leaves it alone', async () => {
  const request = { tenantId: 'acme', site: 'shop', origin: 'https://shop.acme.example', agents: ['guide'] };
  const issued = (await issueKey(
    request,
    { actor: 'cli', role: 'cli' },
    { tenants, acts: new FakeActs(), bus, clock },
  )) as WidgetKey;
  expect((await merge({ label: 'changed' })).keyOf(issued.key)?.key).toEqual(issued);
});

test('A key that the file revoked stays revoked when the file takes it back', async () => {
  await merge({ revoked: true });
  expect(await revoked.next()).toMatchObject([{ id: 'site', revokedAtMs: 42 }]);
  const directory = await merge({ revoked: false });
  expect(directory.keyOf('w_acme_site')?.key.revokedAtMs).toBe(42);
  expect(directory.widgetOrigins.has(key.origin)).toBe(false);
});
