import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TenantDirectory, type DirectoryDeps } from '../../../src/tenants/directory.ts';
import type { Budget } from '../../../src/stores/budgets/contract.ts';
import type { Stop, WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { aKey, aTenant, FakeBus, FakeTenants, noBudgets, recorder } from './fakes.ts';
import { changedAt } from '../../support/key-change.ts';

function build(tenants: FakeTenants, more: Partial<DirectoryDeps> = {}) {
  const bus = new FakeBus();
  const revoked = recorder<readonly WidgetKey[]>();
  const stopped = recorder<readonly string[]>();
  const errors = recorder<unknown>();
  const told = recorder<readonly Budget[]>();
  const listeners = {
    onRevoked: revoked.call,
    onStopped: stopped.call,
    onBudgets: told.call,
    onError: errors.call,
  };
  const directory = new TenantDirectory({ tenants, budgets: noBudgets, bus, ...listeners, ...more });
  return { directory, bus, revoked, stopped, told, errors };
}

const site = aKey('acme', 'site');
const old = aKey('acme', 'old', { revokedAtMs: 5 });

describe('The tenant directory', () => {
  test('answers from memory, revoked keys included', async () => {
    const acme = aTenant('acme', { keys: [site, old] });
    const { directory } = build(new FakeTenants(acme));
    expect(directory.keyOf(site.key)).toBeUndefined();
    await directory.reload();
    expect(directory.keyOf(site.key)).toEqual({ key: site, tenant: acme });
    expect(directory.keyOf(old.key)?.key.revokedAtMs).toBe(5);
    expect(directory.keyOf('w_unknown')).toBeUndefined();
    expect(directory.tenant('acme')).toBe(acme);
    expect(directory.tenant('other')).toBeUndefined();
  });

  test('knows an origin as long as one key that is not revoked is bound to it', async () => {
    const shared = aKey('acme', 'shared', { origin: old.origin });
    const tenants = new FakeTenants(aTenant('acme', { keys: [old, shared] }));
    const { directory } = build(tenants);
    await directory.reload();
    expect(directory.widgetOrigins.has(old.origin)).toBe(true);
    await tenants.revoke('acme', 'shared', changedAt(9));
    await directory.reload();
    expect(directory.widgetOrigins.has(old.origin)).toBe(false);
  });

  test('admits a console user where no admins are listed, or the address or its domain is', async () => {
    const listed = aTenant('listed', { admins: ['ops@acme.example', '@acme.org'] });
    const { directory } = build(new FakeTenants(aTenant('open'), listed, aTenant('closed', { admins: [] })));
    await directory.reload();
    const admitting = (email: string) => directory.tenantsAdmitting(email).map(({ id }) => id);
    expect(admitting('ops@acme.example')).toEqual(['open', 'listed']);
    expect(admitting('any@acme.org')).toEqual(['open', 'listed']);
    expect(admitting('any@mail.acme.org')).toEqual(['open']);
  });

  test('admits nobody where no admins are listed, when everybody can log in to production', async () => {
    const listed = aTenant('listed', { admins: ['ops@acme.example'] });
    const { directory } = build(new FakeTenants(aTenant('open'), listed), { needsAdmins: true });
    await directory.reload();
    expect(directory.tenantsAdmitting('ops@acme.example')).toEqual([listed]);
    expect(directory.tenantsAdmitting('any@acme.example')).toEqual([]);
  });

  test('shares one load among calls, but never one that had begun before the call', async () => {
    const tenants = new FakeTenants();
    const { directory } = build(tenants);
    const first = directory.reload();
    await Promise.resolve(); // the first load has begun
    await Promise.all([first, directory.reload(), directory.reload()]);
    expect(tenants.loads).toBe(2);
  });
});

describe('A process that was frozen', () => {
  test('looks at the database before it admits anybody', async () => {
    const tenants = new FakeTenants(aTenant('acme', { keys: [site] }));
    let elapsedMs = 0;
    const { directory } = build(tenants, { elapsedMs: () => elapsedMs });
    await directory.reload();
    await tenants.revoke('acme', 'site', changedAt(9));
    elapsedMs = 7000;
    expect(directory.refreshIfLate()).toBeUndefined();
    elapsedMs = 7001;
    await directory.refreshIfLate();
    expect(directory.keyOf(site.key)?.key.revokedAtMs).toBe(9);
    expect(directory.refreshIfLate()).toBeUndefined();
  });

  test('goes by what it knows while the database is away, and asks once', async () => {
    const tenants = new FakeTenants(aTenant('acme', { keys: [site] }));
    let elapsedMs = 0;
    const { directory } = build(tenants, { elapsedMs: () => elapsedMs });
    await directory.reload();
    tenants.isAway = true;
    elapsedMs = 60_000;
    await directory.refreshIfLate();
    expect(directory.refreshIfLate()).toBeUndefined();
    expect(directory.keyOf(site.key)?.key.revokedAtMs).toBeNull();
  });
});

describe('A budget', () => {
  const usual = { of: 'tenant', period: 'day', from: null, microDollars: 1, tokens: null, microMinutes: null } as const;
  const kept = {
    warnAt: [],
    atLimit: 'end',
    tell: null,
    madeBy: null,
    isInFile: true,
    version: 1,
    changedAtMs: 0,
  } as const;
  const budget = (tenantId: string | null): Budget => ({ tenantId, id: 'b', ...usual, ...kept });

  test('of a tenant that is not served, as the demo in production, is none', async () => {
    const budgets = { all: () => Promise.resolve([budget(null), budget('acme'), budget('demo')]) };
    const { directory, told } = build(new FakeTenants(aTenant('acme')), { budgets });
    await directory.reload();
    expect(directory.allBudgets().map(({ tenantId }) => tenantId)).toEqual([null, 'acme']);
    expect(directory.budgetsOf('demo')).toEqual([]);
    expect(await told.next()).toHaveLength(2);
  });
});

describe('A revocation', () => {
  test('is announced at the first load, then only when it is new', async () => {
    const tenants = new FakeTenants(aTenant('acme', { keys: [site, old] }));
    const { directory, revoked } = build(tenants);
    await directory.reload();
    expect(await revoked.next()).toEqual([old]);
    await directory.reload();
    await tenants.revoke('acme', 'site', changedAt(9));
    await directory.reload();
    expect(await revoked.next()).toEqual([{ ...site, revokedAtMs: 9 }]);
    expect(revoked.calls).toHaveLength(2);
  });

  test('whose announcement fails is announced again with the next load', async () => {
    const announce = vi.fn().mockRejectedValueOnce(new Error('registry away')).mockResolvedValue(undefined);
    const { directory, errors } = build(new FakeTenants(aTenant('acme', { keys: [old] })), { onRevoked: announce });
    await directory.reload();
    expect(await errors.next()).toEqual(new Error('registry away'));
    await directory.reload();
    await directory.reload();
    await directory.stop();
    expect(announce).toHaveBeenCalledTimes(2);
  });

  test('is in the snapshot before it is announced', async () => {
    const tenants = new FakeTenants(aTenant('acme', { keys: [old] }));
    const seen = recorder<unknown>();
    const { directory } = build(tenants, { onRevoked: () => seen.call(directory.keyOf(old.key)?.key.revokedAtMs) });
    await directory.reload();
    expect(await seen.next()).toBe(5);
  });

  test('does not wait for an earlier announcement that takes long', async () => {
    const announced = recorder<readonly WidgetKey[]>();
    const tenants = new FakeTenants(aTenant('acme', { keys: [site, old] }));
    const onRevoked = (keys: readonly WidgetKey[]): Promise<void> => {
      announced.call(keys);
      return new Promise(() => undefined);
    };
    const { directory } = build(tenants, { onRevoked });
    await directory.reload();
    await tenants.revoke('acme', 'site', changedAt(9));
    await directory.reload();
    expect(announced.calls.map(([key]) => key?.id)).toEqual(['old', 'site']);
  });
});

describe('A stop', () => {
  const stop = (tenantId: string | null, atMs: number): Stop => ({
    tenantId,
    atMs,
    actor: 'ops@x.example',
    role: 'operator',
    reason: null,
  });

  test('is told of once a tenant, also one that is added later, and anew when it is made anew', async () => {
    const tenants = new FakeTenants(aTenant('acme'), aTenant('globex'));
    const { directory, stopped } = build(tenants);
    await tenants.addStop(stop('acme', 1));
    await directory.reload();
    await tenants.addStop(stop(null, 2));
    await directory.reload();
    await directory.reload();
    tenants.tenants = [...tenants.tenants, aTenant('late')];
    await directory.reload();
    for (const tenantId of [null, 'acme']) await tenants.liftStop(tenantId);
    await directory.reload();
    expect(directory.stopOf('acme')).toBeUndefined();
    await tenants.addStop(stop('acme', 3));
    await directory.reload();
    expect(stopped.calls).toEqual([['acme'], ['acme', 'globex'], ['late'], ['acme']]);
  });

  test('whose sessions could not be ended is told of again with the next load', async () => {
    const tenants = new FakeTenants(aTenant('acme'));
    await tenants.addStop(stop(null, 1));
    const end = vi.fn().mockRejectedValueOnce(new Error('history away')).mockResolvedValue(undefined);
    const { directory, errors } = build(tenants, { onStopped: end });
    await directory.reload();
    expect(await errors.next()).toEqual(new Error('history away'));
    await directory.reload();
    await directory.reload();
    await directory.stop();
    expect(end.mock.calls).toEqual([[['acme']], [['acme']]]);
  });

  test('of the installation holds for each tenant, and one of a tenant for that alone', async () => {
    const tenants = new FakeTenants(aTenant('acme'), aTenant('globex'));
    const { directory } = build(tenants);
    await tenants.addStop(stop('acme', 1));
    await directory.reload();
    expect([directory.stopOf('acme')?.atMs, directory.stopOf('globex')]).toEqual([1, undefined]);
    await tenants.addStop(stop(null, 2));
    await directory.reload();
    expect([directory.stopOf('acme')?.atMs, directory.stopOf('globex')?.atMs]).toEqual([2, 2]);
  });
});

describe('A directory that was started', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('loads on a message, and every refreshMs without one, until it is stopped', async () => {
    const tenants = new FakeTenants();
    const { directory, bus } = build(tenants, { refreshMs: 5000 });
    await directory.start();
    bus.publish({ type: 'login.changed', loginId: 'l' });
    await vi.advanceTimersByTimeAsync(4999);
    expect(tenants.loads).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(tenants.loads).toBe(2);
    bus.publish({ type: 'tenants.changed' });
    await vi.advanceTimersByTimeAsync(0);
    expect(tenants.loads).toBe(3);
    await directory.stop();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(tenants.loads).toBe(3);
    expect(bus.listeners).toBe(0);
  });

  test('keeps the last good snapshot while the database is away, and tells of each outage once', async () => {
    const tenants = new FakeTenants(aTenant('acme', { keys: [site] }));
    const { directory, errors } = build(tenants, { refreshMs: 1000 });
    await directory.start();
    tenants.isAway = true;
    await vi.advanceTimersByTimeAsync(3000);
    expect(directory.keyOf(site.key)?.key).toEqual(site);
    expect(errors.calls).toHaveLength(1);
    tenants.isAway = false;
    await vi.advanceTimersByTimeAsync(1000);
    tenants.isAway = true;
    await vi.advanceTimersByTimeAsync(2000);
    expect(errors.calls).toHaveLength(2);
    await directory.stop();
  });

  test('runs nothing when the first load fails', async () => {
    const tenants = new FakeTenants();
    tenants.isAway = true;
    const { directory, bus } = build(tenants);
    await expect(directory.start()).rejects.toThrow('database is not available');
    expect(bus.listeners).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
