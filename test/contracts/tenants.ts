import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import {
  KeyTaken,
  TooManyKeys,
  type Stop,
  type Tenant,
  type Tenants,
  type WidgetKey,
} from '../../src/stores/tenants/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, type Make } from './support.ts';
import { changedAt } from '../support/key-change.ts';
import { aKey } from '../features/tenants/fakes.ts';

export function widgetKey(tenantId: string, changes: Partial<WidgetKey> = {}): WidgetKey {
  const key = { key: `w_${randomId()}`, origin: 'https://www.acme.example', label: 'Production site' };
  return aKey(tenantId, 'site', { ...key, ...changes });
}

function tenant(keys: (id: string) => readonly WidgetKey[] = (id) => [widgetKey(id)], id: string = randomId()): Tenant {
  return { id, name: 'Acme', agents: [], admins: null, keys: keys(id) };
}

export function tenantsContract(name: string, make: Make<Tenants>): void {
  describe(`tenants, ${name}`, () => {
    const tenants = nodesOf(make);
    const find = async (id: string) => (await tenants().all()).find((each) => each.id === id);

    test('are read back as they were merged', async () => {
      const rich: Tenant = {
        id: randomId(),
        name: 'Äcme "&" Söhne',
        admins: ['ops@acme.example'],
        adminsMay: ['limits'],
        totals: { dollarsDaily: 9.5, concurrentSessions: 3 },
        maxKeys: 7,
        agents: [
          {
            id: 'support',
            model: 'm',
            voice: 'v',
            instructions: 'Be “kind”.\n',
            tools: [{ kind: 'http_tool', name: 'find', url: 'https://x', nested: { deep: [1, null] } }],
          },
          { id: 'bare' },
          {
            id: 'metered',
            call: 'brokered',
            dataChannel: 'none',
            price: { perMinute: 50_000, estimatePerMinute: 50_000 },
          },
        ],
        keys: [],
      };
      const keys = [
        widgetKey(rich.id, {
          id: 'a',
          agents: ['support'],
          allowOverrides: false,
          call: 'brokered',
          dataChannel: 'none',
          limits: { concurrentSessions: 50 },
          bots: { minScore: 0.7 },
          totals: { dollarsDaily: 0.5 },
        }),
        widgetKey(rich.id, { id: 'b', revokedAtMs: DAY_BEGIN }),
      ];
      const bare = tenant(() => []);
      await tenants().merge([{ ...rich, keys }, bare]);
      expect(await find(rich.id)).toEqual({ ...rich, keys });
      expect(await find(bare.id)).toEqual(bare);
    });

    test('a merge changes what it names and deletes nothing', async () => {
      const before = tenant((id) => [widgetKey(id, { id: 'a' }), widgetKey(id, { id: 'b' })]);
      await tenants().merge([before]);
      const changed = {
        ...(before.keys[0] as WidgetKey),
        origin: 'https://new.example',
        agents: [],
        call: 'direct' as const,
        limits: { dailyTokens: 1 },
        totals: { tokensDaily: 2 },
        bots: { provider: 'altcha', challenge: 'always' } as const,
      };
      const after = { ...before, name: 'New', admins: [], agents: [{ id: 'x' }], keys: [changed] };
      await tenants().merge([after]);
      await tenants().merge([]);
      expect(await find(before.id)).toEqual({ ...after, keys: [changed, before.keys[1]] });
    });

    test('a merge can revoke, but neither undo a revocation nor move its time', async () => {
      const before = tenant();
      const [key] = before.keys as [WidgetKey];
      const merge = (revokedAtMs: number | null) => tenants().merge([{ ...before, keys: [{ ...key, revokedAtMs }] }]);
      await merge(null);
      await merge(DAY_BEGIN);
      await merge(null);
      await merge(DAY_BEGIN + 1);
      expect((await find(before.id))?.keys).toEqual([{ ...key, revokedAtMs: DAY_BEGIN }]);
    });

    test('a merge with a key that another tenant or id has, or with another key for an id, changes nothing at all', async () => {
      const owner = tenant();
      await tenants().merge([owner]);
      const [key] = owner.keys as [WidgetKey];
      const thief = tenant((id) => [{ ...key, tenantId: id }]);
      await expect(tenants().merge([thief])).rejects.toThrow(KeyTaken);
      const renamed = { ...owner, name: 'Renamed' };
      for (const taken of [
        { ...key, id: 'other' },
        { ...key, key: `w_${randomId()}` },
      ]) {
        await expect(tenants().merge([{ ...renamed, keys: [taken] }])).rejects.toThrow(KeyTaken);
      }
      await expect(tenants().merge([{ ...renamed, keys: [key, key] }])).rejects.toThrow(KeyTaken);
      expect(await find(thief.id)).toBeUndefined();
      expect(await find(owner.id)).toEqual(owner);
    });

    test('nodes that merge the same file at the same time all succeed', async () => {
      for (let round = 0; round < 5; round += 1) {
        const file = await atOnce(5, () => tenant((id) => [widgetKey(id, { id: 'a' }), widgetKey(id, { id: 'b' })]));
        await atOnce(8, (index) => tenants().merge(index % 2 === 0 ? file : file.toReversed()));
        expect(await find(file[0]?.id ?? '')).toEqual(file[0]);
      }
    });

    test('a key is issued once: a used id, a used key and an unknown tenant are told apart', async () => {
      const owner = tenant(() => []);
      await tenants().merge([owner]);
      const key = widgetKey(owner.id, {
        agents: ['support'],
        call: 'direct',
        limits: { sessionsPerMinute: 3 },
        totals: { concurrentSessions: 3 },
      });
      expect(await tenants().issue([key], changedAt(DAY_BEGIN))).toBe(true);
      await expect(tenants().issue([{ ...key, id: 'other' }], changedAt(DAY_BEGIN))).rejects.toThrow(KeyTaken);
      await expect(tenants().issue([{ ...key, key: `w_${randomId()}` }], changedAt(DAY_BEGIN))).rejects.toThrow(
        KeyTaken,
      );
      expect(await tenants().issue([widgetKey(randomId())], changedAt(DAY_BEGIN))).toBe(false);
      expect((await find(owner.id))?.keys).toEqual([key]);
    });

    test('of concurrent issues of one id one succeeds', async () => {
      const owner = tenant(() => []);
      await tenants().merge([owner]);
      const issued = await Promise.allSettled(
        Array.from({ length: 20 }, () => tenants().issue([widgetKey(owner.id)], changedAt(DAY_BEGIN))),
      );
      expect(issued.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('several keys are all issued, or none of them when one is taken', async () => {
      const owner = tenant((id) => [widgetKey(id, { id: 'b' })]);
      await tenants().merge([owner]);
      const named = (id: string) => widgetKey(owner.id, { id });
      await expect(tenants().issue([named('a'), named('b')], changedAt(DAY_BEGIN))).rejects.toThrow(KeyTaken);
      await expect(tenants().issue([named('a'), named('a')], changedAt(DAY_BEGIN))).rejects.toThrow(KeyTaken);
      expect((await find(owner.id))?.keys).toEqual(owner.keys);
      const more = [named('c'), named('d')];
      expect(await tenants().issue(more, changedAt(DAY_BEGIN))).toBe(true);
      expect((await find(owner.id))?.keys).toEqual([...owner.keys, ...more]);
    });

    test("concurrent issues never exceed the tenant's limit of keys; revoked keys do not count", async () => {
      const revoked = (id: string) => widgetKey(id, { id: 'old', revokedAtMs: DAY_BEGIN });
      const owner = { ...tenant((id) => [widgetKey(id, { id: 'a' }), revoked(id)]), maxKeys: 3 };
      await tenants().merge([owner]);
      const issue = (id: string) => tenants().issue([widgetKey(owner.id, { id })], changedAt(DAY_BEGIN));
      const issued = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => issue(`more-${n}`)));
      expect(issued.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
      const two = [widgetKey(owner.id, { id: 'x' }), widgetKey(owner.id, { id: 'y' })];
      await tenants().revoke(owner.id, 'a', changedAt(DAY_BEGIN));
      await expect(tenants().issue(two, changedAt(DAY_BEGIN))).rejects.toThrow(TooManyKeys);
      expect(await issue('b')).toBe(true);
      await expect(issue('c')).rejects.toThrow(`the tenant ${owner.id} has 3 keys, and may have 3`);
    });

    test('a revocation answers the key, keeps the first time, and is undefined for an unknown key', async () => {
      const owner = tenant();
      await tenants().merge([owner]);
      const revoked = { ...owner.keys[0], revokedAtMs: DAY_BEGIN };
      expect(await tenants().revoke(owner.id, 'site', changedAt(DAY_BEGIN))).toEqual(revoked);
      expect(await tenants().revoke(owner.id, 'site', changedAt(DAY_BEGIN + 1))).toEqual(revoked);
      expect(await tenants().revoke(owner.id, 'other', changedAt(DAY_BEGIN))).toBeUndefined();
      expect(await tenants().revoke(randomId(), 'site', changedAt(DAY_BEGIN))).toBeUndefined();
    });

    test('a pause answers the key, keeps the first time, outlives a merge, and is undone by resuming', async () => {
      const owner = tenant();
      await tenants().merge([owner]);
      const [key] = owner.keys as [WidgetKey];
      const paused = { ...key, pausedAtMs: DAY_BEGIN };
      expect(await tenants().pause(owner.id, 'site', changedAt(DAY_BEGIN))).toEqual(paused);
      expect(await tenants().pause(owner.id, 'site', changedAt(DAY_BEGIN + 1))).toEqual(paused);
      await tenants().merge([{ ...owner, keys: [{ ...key, label: 'New' }] }]);
      expect((await find(owner.id))?.keys).toEqual([{ ...paused, label: 'New' }]);
      for (const _ of [1, 2])
        expect(await tenants().resume(owner.id, 'site')).toEqual({ ...key, label: 'New', pausedAtMs: null });
      expect(await tenants().pause(owner.id, 'other', changedAt(DAY_BEGIN))).toBeUndefined();
      expect(await tenants().resume(randomId(), 'site')).toBeUndefined();
    });

    test('a revoked key is no longer paused', async () => {
      const owner = tenant();
      await tenants().merge([owner]);
      await tenants().revoke(owner.id, 'site', changedAt(DAY_BEGIN));
      expect(await tenants().pause(owner.id, 'site', changedAt(DAY_BEGIN + 1))).toMatchObject({
        pausedAtMs: null,
        revokedAtMs: DAY_BEGIN,
      });
    });

    test('when a merge and an issue of the same key run concurrently, the merge succeeds and the key exists once', async () => {
      for (let round = 0; round < 10; round += 1) {
        const owner = tenant();
        const [key] = owner.keys as [WidgetKey];
        await tenants().merge([{ ...owner, keys: [] }]);
        const [first, issued, second] = await Promise.allSettled([
          tenants().merge([owner]),
          tenants().issue([key], changedAt(DAY_BEGIN)),
          tenants().merge([owner]),
        ]);
        expect([first.status, second.status]).toEqual(['fulfilled', 'fulfilled']);
        expect([
          { status: 'fulfilled', value: true },
          { status: 'rejected', reason: expect.any(KeyTaken) },
        ]).toContainEqual(issued);
        expect((await find(owner.id))?.keys).toEqual([key]);
      }
    });

    test('when merges and a revocation run concurrently, the key ends revoked', async () => {
      const owner = tenant();
      await tenants().merge([owner]);
      await atOnce(20, (index) =>
        index === 10 ? tenants().revoke(owner.id, 'site', changedAt(DAY_BEGIN)) : tenants().merge([owner]),
      );
      expect((await find(owner.id))?.keys[0]?.revokedAtMs).toBe(DAY_BEGIN);
    });

    test('a stop holds until it is lifted; of several concurrent stops the first stays, with its author', async () => {
      const tenantId = randomId();
      const stop = (atMs: number): Stop => ({
        tenantId,
        atMs,
        actor: `ops${atMs}@x.example`,
        role: 'operator',
        reason: null,
      });
      const kept = await atOnce(10, (index) => tenants().addStop(stop(DAY_BEGIN + index)));
      expect(new Set(kept.map(({ atMs }) => atMs)).size).toBe(1);
      const find = async () => (await tenants().stops()).filter((one) => one.tenantId === tenantId);
      expect(await find()).toEqual([kept[0]]);
      expect(await tenants().liftStop(randomId())).toBe(false);
      expect(await Promise.all([tenants().liftStop(tenantId), tenants().liftStop(tenantId)])).toContain(true);
      expect(await find()).toEqual([]);
      expect(await tenants().liftStop(tenantId)).toBe(false);
    });

    test('a stop replaces only one by an admin of the tenant, who could lift it', async () => {
      const tenantId = randomId();
      const stop = (role: Stop['role'], atMs: number): Stop => ({
        tenantId,
        atMs,
        actor: `${role}${atMs}`,
        role,
        reason: role,
      });
      const admins = stop('tenant_admin', DAY_BEGIN);
      expect(await tenants().addStop(admins)).toEqual(admins);
      expect(await tenants().addStop(stop('tenant_admin', DAY_BEGIN + 1))).toEqual(admins);
      const operators = stop('operator', DAY_BEGIN + 2);
      expect(await tenants().addStop(operators)).toEqual(operators);
      for (const role of ['tenant_admin', 'service', 'cli'] as const)
        expect(await tenants().addStop(stop(role, DAY_BEGIN + 3))).toEqual(operators);
      expect((await tenants().stops()).filter((one) => one.tenantId === tenantId)).toEqual([operators]);
      await tenants().liftStop(tenantId);
    });

    test('a stop of the installation is separate from those of tenants and is listed first', async () => {
      const tenantId = randomId();
      const stop: Stop = { tenantId, atMs: DAY_BEGIN, actor: 'cli', role: 'cli', reason: 'a key “leaked”' };
      await tenants().addStop(stop);
      await tenants().addStop({ ...stop, tenantId: null });
      expect((await tenants().stops())[0]).toEqual({ ...stop, tenantId: null });
      expect(await tenants().liftStop(null)).toBe(true);
      expect((await tenants().stops()).filter((one) => [null, tenantId].includes(one.tenantId))).toEqual([stop]);
      await tenants().liftStop(tenantId);
    });
  });
}
