import { chmod, mkdir, mkdtemp, readlink, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyTaken, type Tenant, TooManyInFile } from '../../../src/stores/tenants/contract.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { TenantsFileError } from '../../../src/tenants/tenants-file.ts';
import { TenantsFileWatch, type WatchDeps } from '../../../src/tenants/watch-file.ts';
import { FakeBus, FakeTenants, recorder } from './fakes.ts';

let folder: string;
let file: string;
let undo: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenants-'));
  file = join(folder, 'tenants.json');
});

afterEach(async () => {
  for (const stop of undo.splice(0)) await stop();
  await rm(folder, { recursive: true });
});

function naming(...ids: string[]): string {
  return JSON.stringify({ tenants: ids.map((id) => ({ id })) });
}

function build(more: Partial<WatchDeps> = {}) {
  const tenants = new FakeTenants();
  const bus = new FakeBus();
  const merged = recorder<readonly Tenant[]>();
  bus.subscribe(() => merged.call(tenants.lastMerged));
  const problems = recorder<unknown>();
  const watch = new TenantsFileWatch({
    file,
    tenants,
    dayOf: () => '1970-01-01',
    bus,
    clock: { now: () => 7 },
    onProblem: problems.call,
    pollMs: 20,
    ...more,
  });
  undo.push(() => watch.stop());
  const nextIds = async () => (await merged.next()).map(({ id }) => id);
  return { watch, tenants, bus, merged, problems, nextIds };
}

describe('At start the tenants file', () => {
  test('is merged and every node is told', async () => {
    await writeFile(file, naming('acme'));
    const { watch, tenants, bus, nextIds } = build();
    await watch.start();
    expect(await nextIds()).toEqual(['acme']);
    expect(tenants.tenants.map(({ id }) => id)).toEqual(['acme']);
    expect(bus.published).toEqual([{ type: 'tenants.changed' }]);
  });

  test('may be adapted before it is merged', async () => {
    await writeFile(file, naming('acme', 'demo'));
    const { watch, tenants } = build({ adapt: (read) => read.filter(({ id }) => id !== 'demo') });
    await watch.start();
    expect(tenants.tenants.map(({ id }) => id)).toEqual(['acme']);
  });

  test.each([
    ['missing', undefined],
    ['broken', '{'],
  ])('that is %s is an error of its own kind, and nothing runs', async (_, content) => {
    if (content !== undefined) await writeFile(file, content);
    const { watch, tenants, bus, merged } = build();
    await expect(watch.start()).rejects.toBeInstanceOf(TenantsFileError);
    expect([tenants.tenants, bus.published, merged.calls]).toEqual([[], [], []]);
  });

  test('that takes a key of another tenant is such an error too', async () => {
    await writeFile(file, naming('acme'));
    const { watch, tenants } = build();
    tenants.mergeFault = new KeyTaken('w_acme belongs to other');
    await expect(watch.start()).rejects.toThrow(/with another tenant or another id.*w_acme belongs to other/);
  });

  test('with which a tenant would have too many webhooks or budgets is such an error too', async () => {
    await writeFile(file, naming('acme'));
    const { watch, tenants } = build();
    tenants.mergeFault = new TooManyInFile('webhooks', [{ tenantId: 'acme', named: 3, others: 8 }]);
    await expect(watch.start()).rejects.toThrow(
      /tenant acme: 3 webhooks are too many: it has 8 more.*delete some of those/,
    );
    await expect(watch.start()).rejects.toBeInstanceOf(TenantsFileError);
    tenants.mergeFault = new TooManyInFile('budgets', [{ tenantId: null, named: 1, others: 50 }]);
    await expect(watch.start()).rejects.toThrow(
      /the installation: 1 budgets are too many: it has 50 more.*may have 50 in all.*DELETE \/api\/operator\/budgets/,
    );
  });

  test('can not be merged while the database is away', async () => {
    await writeFile(file, naming('acme'));
    const { watch, tenants } = build();
    tenants.isAway = true;
    await expect(watch.start()).rejects.toBeInstanceOf(Unavailable);
  });
});

describe('A change of the tenants file is merged', () => {
  async function started(more: Partial<WatchDeps> = {}) {
    await writeFile(file, naming('one'));
    const parts = build(more);
    await parts.watch.start();
    await parts.nextIds();
    return parts;
  }

  test('at the pace of production', async () => {
    const { nextIds } = await started({ pollMs: undefined });
    await writeFile(file, naming('two'));
    expect(await nextIds()).toEqual(['two']);
  });

  test('when it is written in place, with the same size', async () => {
    const { nextIds, bus } = await started();
    await writeFile(file, naming('two'));
    expect(await nextIds()).toEqual(['two']);
    expect(bus.published).toHaveLength(2);
  });

  test('when an editor renames a new file over it', async () => {
    const { nextIds } = await started();
    await writeFile(`${file}.new`, naming('two'));
    await rename(`${file}.new`, file);
    expect(await nextIds()).toEqual(['two']);
  });

  test('when a link above it is swapped, as Kubernetes does', async () => {
    await mkdir(join(folder, 'v1'));
    await mkdir(join(folder, 'v2'));
    await writeFile(join(folder, 'v1', 'tenants.json'), naming('one'));
    await writeFile(join(folder, 'v2', 'tenants.json'), naming('two'));
    await symlink('v1', join(folder, '..data'));
    await symlink(join('..data', 'tenants.json'), file);
    const { watch, nextIds } = build();
    await watch.start();
    expect(await nextIds()).toEqual(['one']);
    await symlink('v2', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    expect(await nextIds()).toEqual(['two']);
    expect(await readlink(join(folder, '..data'))).toBe('v2');
  });

  test('and what it no longer names stays in the database', async () => {
    const { nextIds, tenants } = await started();
    await writeFile(file, naming('two'));
    await nextIds();
    expect(tenants.tenants.map(({ id }) => id)).toEqual(['one', 'two']);
  });

  test('after a broken version, which is told once and changes nothing', async () => {
    const { nextIds, problems, tenants, bus } = await started();
    await writeFile(file, '{"tenants": [{]}');
    expect(String(await problems.next())).toContain('line 1, column 15');
    expect(tenants.tenants.map(({ id }) => id)).toEqual(['one']);
    expect(bus.published).toHaveLength(1);
    await writeFile(file, naming('two'));
    expect(await nextIds()).toEqual(['two']);
    expect(problems.calls).toHaveLength(1);
  });

  test('after it was away, which is told', async () => {
    const { nextIds, problems } = await started();
    await unlink(file);
    expect(String(await problems.next())).toContain('it does not exist');
    await writeFile(file, naming('two'));
    expect(await nextIds()).toEqual(['two']);
  });

  test('when the database is back, and its outage is told once', async () => {
    const { nextIds, problems, tenants } = await started();
    tenants.isAway = true;
    await writeFile(file, naming('two'));
    expect(await problems.next()).toBeInstanceOf(Unavailable);
    tenants.isAway = false;
    expect(await nextIds()).toEqual(['two']);
    expect(problems.calls).toHaveLength(1);
  });

  test('only until the watch is stopped', async () => {
    const { watch, merged } = await started();
    await watch.stop();
    await writeFile(file, naming('two'));
    const other = build();
    await other.watch.start();
    await chmod(file, 0o640);
    await other.nextIds();
    await other.nextIds();
    expect(merged.calls).toHaveLength(1);
  });
});
