import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import {
  audited,
  type Audit,
  type AuditEntry,
  type AuditFilter,
  type AuditPosition,
  type NewAuditEntry,
} from '../../src/stores/audit/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

const entry: NewAuditEntry = {
  atMs: DAY_BEGIN,
  actor: 'ops@example.com',
  role: 'operator',
  action: 'key.revoke',
  target: 'acme/site',
  tenantId: 'acme',
  reason: 'stolen "ü"',
  requestId: 'req_1',
  batchId: null,
};

/** As it is kept before anything is known of its result. */
const fresh = { ordinal: expect.any(Number) as number, result: null, count: null };

/** @param make with how many rows it looks through for a page; undefined where it need not be few */
export function auditContract(name: string, make: (mostWalked?: number) => Make<Audit>): void {
  describe(`the audit, ${name}`, () => {
    const audit = nodesOf(make());
    const narrow = nodesOf(make(100));

    async function list(filter: AuditFilter, limit = 50): Promise<readonly AuditEntry[]> {
      return (await audit().list(filter, undefined, limit)).entries;
    }

    test('keeps every entry as it was appended, and tells the newest first', async () => {
      const target = randomId();
      const bare: NewAuditEntry = { ...entry, target, role: 'cli', tenantId: null, reason: null, requestId: null };
      const ordinals = await audit().append([{ ...entry, target }, bare]);
      expect(ordinals).toHaveLength(2);
      expect(await list({ target })).toEqual([
        { ...bare, ...fresh, ordinal: ordinals[1] },
        { ...entry, target, ...fresh, ordinal: ordinals[0] },
      ]);
      expect(await audit().append([])).toEqual([]);
    });

    test('says what came of entries, and of no others', async () => {
      const target = randomId();
      const ordinals = await audit().append([1, 2, 3].map((n) => ({ ...entry, target, batchId: `${target}${n}` })));
      await audit().settle(ordinals.slice(0, 1), 'done', 12);
      await audit().settle(ordinals.slice(1, 2), 'unchanged');
      expect(await list({ target })).toMatchObject([
        { result: null, count: null },
        { result: 'unchanged', count: null },
        { result: 'done', count: 12 },
      ]);
      expect(await list({ batchId: `${target}2` })).toMatchObject([{ ordinal: ordinals[1] }]);
    });

    test('tells the last entry of an action on a target up to a time, and none of others', async () => {
      const target = randomId();
      const one: NewAuditEntry = { ...entry, action: 'session.end', target };
      const later: NewAuditEntry = { ...one, atMs: DAY_BEGIN + 2, actor: 'b' };
      await audit().append([
        one,
        later,
        { ...one, action: 'key.issue', atMs: DAY_BEGIN + 1 },
        { ...one, target: randomId(), atMs: DAY_BEGIN + 1 },
        // At the same instant the first one is the one that did it.
        { ...later, actor: 'c' },
      ]);
      const latest = (untilMs: number) => audit().latest('session.end', target, untilMs);
      expect(await latest(DAY_BEGIN - 1)).toBeUndefined();
      expect(await latest(DAY_BEGIN)).toEqual({ ...one, ...fresh });
      expect(await latest(DAY_BEGIN + 1)).toEqual({ ...one, ...fresh });
      expect(await latest(DAY_BEGIN + 2)).toEqual({ ...later, ...fresh });
      expect(await latest(DAY_BEGIN + 9)).toEqual({ ...later, ...fresh });
    });

    test('knows who began an act of many', async () => {
      const batchId = randomId();
      const many: NewAuditEntry = { ...entry, action: 'sessions.end', batchId };
      await audit().append([{ ...many, action: 'session.end', actor: 'a' }, many, { ...many, actor: 'b' }]);
      expect(await audit().beginnerOf(batchId)).toBe(entry.actor);
      expect(await audit().beginnerOf(randomId())).toBeUndefined();
    });

    test('filters by who, what, whose and when, alone and together', async () => {
      const [actor, tenantId] = [randomId(), randomId()];
      const mine: NewAuditEntry = { ...entry, actor, tenantId, target: 'mine' };
      await audit().append([
        mine,
        { ...mine, target: 'later', atMs: DAY_BEGIN + 10, action: 'key.issue' },
        { ...mine, target: 'of another', tenantId: randomId() },
        { ...mine, target: 'of nobody', tenantId: null },
      ]);
      const targets = async (filter: AuditFilter) =>
        (await list({ actor, ...filter })).map(({ target }) => target).toSorted();
      expect(await targets({})).toEqual(['later', 'mine', 'of another', 'of nobody']);
      expect(await targets({ tenants: [tenantId] })).toEqual(['later', 'mine']);
      expect(await targets({ tenants: [] })).toEqual([]);
      expect(await targets({ action: 'key.issue' })).toEqual(['later']);
      expect(await targets({ fromMs: DAY_BEGIN + 1 })).toEqual(['later']);
      expect(await targets({ toMs: DAY_BEGIN + 10, tenants: [tenantId] })).toEqual(['mine']);
      expect(await targets({ toMs: DAY_BEGIN + 11, tenants: [tenantId] })).toEqual(['later', 'mine']);
    });

    test('comes in pages that neither repeat nor leave out any, also of one instant', async () => {
      const actor = randomId();
      const targets = Array.from({ length: 7 }, (_, n) => `t${n}`);
      await audit().append(targets.map((target) => ({ ...entry, actor, target })));
      const seen: string[] = [];
      let after: AuditPosition | undefined;
      do {
        const page = await audit().list({ actor }, after, 3);
        expect(page.isPartial).toBe(false);
        seen.push(...page.entries.map(({ target }) => target));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(targets.toReversed());
    });

    test('looks at so many rows for a page, says so, and goes on from there', async () => {
      const actor = randomId();
      const wantedAtMs = DAY_BEGIN + 10 * 86_400_000;
      await audit().append([{ ...entry, actor, atMs: wantedAtMs }]);
      await audit().append(Array.from({ length: 100 }, (_, n) => ({ ...entry, atMs: wantedAtMs + 1 + n })));
      const first = await narrow().list({ actor, fromMs: wantedAtMs }, undefined, 5);
      expect(first).toMatchObject({ entries: [], isPartial: true, next: { atMs: wantedAtMs + 1 } });
      const second = await narrow().list({ actor, fromMs: wantedAtMs }, first.next, 5);
      expect(second).toMatchObject({ entries: [{ actor }], next: undefined, isPartial: false });
    });

    test('looks through nothing of tenants that are not shown', async () => {
      const [mine, foreign] = [randomId(), randomId()];
      const [atMs, actor] = [DAY_BEGIN + 9_000_000, randomId()];
      const own = [200, 30, 0].map((n) => ({ ...entry, actor, tenantId: mine, atMs: atMs + n }));
      const others = Array.from({ length: 120 }, (_, n) => ({
        ...entry,
        actor,
        tenantId: n > 60 ? foreign : null,
        atMs: atMs + n,
      }));
      await audit().append([...own, ...others]);
      const seen = (tenants: string[], after?: AuditPosition) => narrow().list({ tenants, actor }, after, 2);
      for (const tenants of [[mine], [mine, randomId()]]) {
        const first = await seen(tenants);
        expect(first).toMatchObject({ entries: own.slice(0, 2), isPartial: false });
        expect(await seen(tenants, first.next)).toMatchObject({
          entries: own.slice(2),
          isPartial: false,
          next: undefined,
        });
      }
      expect(await seen([])).toEqual({ entries: [], next: undefined, isPartial: false });
    });

    test('goes on also where the last row that it looked at was what it looked for', async () => {
      const actor = randomId();
      const atMs = DAY_BEGIN + 11 * 86_400_000;
      const wanted = [0, 1].map((n) => ({ ...entry, actor, atMs: atMs + n }));
      const others = Array.from({ length: 99 }, (_, n) => ({ ...entry, atMs: atMs + 2 + n }));
      await audit().append([...wanted, ...others]);
      const first = await narrow().list({ actor, toMs: atMs + 101 }, undefined, 5);
      expect(first).toMatchObject({ entries: [wanted[1]], isPartial: true });
      expect((await narrow().list({ actor }, first.next, 5)).entries).toMatchObject([wanted[0] ?? {}]);
    });

    test('keeps a row before a change and its result after it, whatever becomes of the change', async () => {
      const target = randomId();
      const one = { ...entry, target };
      const during = await audited(
        audit(),
        one,
        () => list({ target }),
        () => 'done',
      );
      expect(during).toMatchObject([{ result: null }]);
      const fault = new Error('no');
      await expect(
        audited(
          audit(),
          one,
          () => Promise.reject(fault),
          () => 'done',
        ),
      ).rejects.toBe(fault);
      expect(await list({ target })).toMatchObject([{ result: 'failed' }, { result: 'done' }]);
    });

    test('lets a change stand whose result can not be said, and none happen whose row can not be written', async () => {
      const away = () => Promise.reject(new Unavailable('database'));
      const half = { append: () => Promise.resolve([1]), settle: away };
      expect(
        await audited(
          half,
          entry,
          () => 'changed',
          () => 'done',
        ),
      ).toBe('changed');
      let changes = 0;
      const none = { ...half, append: away };
      await expect(
        audited(
          none,
          entry,
          () => (changes += 1),
          () => 'done',
        ),
      ).rejects.toThrow(Unavailable);
      expect(changes).toBe(0);
    });
  });
}
