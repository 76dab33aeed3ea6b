import { describe, expect, test } from 'vitest';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { LiveNodes } from '../../src/stores/nodes/contract.ts';
import type { VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import { recordStoreContract } from './record-store.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const MANY = 100;

export function call(changes: Partial<CallRecord> = {}): CallRecord {
  return {
    id: `call_${randomId()}`,
    sessionId: `s:${randomId()}`,
    subject: 'subject',
    tenantId: 'acme',
    keyId: null,
    provider: 'local',
    fingerprint: 'one',
    model: 'echo',
    state: 'creating',
    providerCallId: null,
    createdAtMs: DAY_BEGIN,
    openedAtMs: null,
    closingAtMs: null,
    closedAtMs: null,
    closeReason: null,
    hangup: 'none',
    hangupTries: 0,
    overAtMs: null,
    overDoor: null,
    nextTryAtMs: null,
    unheardSinceMs: null,
    giveUpAtMs: DAY_BEGIN + 15_000,
    providerEndsAtMs: null,
    graceUntilMs: null,
    wrappedUpAtMs: null,
    ownerNode: randomId(),
    fence: 1,
    version: 1,
    ...changes,
  };
}

const open = { state: 'open', giveUpAtMs: null, openedAtMs: DAY_BEGIN, providerCallId: 'rtc_1' } as const;
const closed = { state: 'closed', giveUpAtMs: null, closedAtMs: DAY_BEGIN, closeReason: 'lost' } as const;

interface Stores {
  readonly calls: VoiceCalls;
  readonly nodes: LiveNodes;
}

export function voiceCallsContract(name: string, make: Make<Stores>): void {
  describe(`calls, ${name}`, () => {
    const stores = nodesOf(make);
    const calls = (): VoiceCalls => stores().calls;

    recordStoreContract(
      () => {
        const store = calls();
        return { ...store, insert: (record: CallRecord) => store.insert(record, MANY) };
      },
      () => call(),
      (record): CallRecord => ({
        ...record,
        state: 'closing',
        providerCallId: 'rtc_2',
        openedAtMs: DAY_BEGIN + 1,
        closingAtMs: DAY_BEGIN + 8,
        closeReason: 'session_ended',
        hangup: 'asked',
        hangupTries: 3,
        overAtMs: DAY_BEGIN + 7,
        overDoor: 'hangup',
        nextTryAtMs: DAY_BEGIN + 2,
        unheardSinceMs: DAY_BEGIN + 3,
        giveUpAtMs: DAY_BEGIN + 4,
        providerEndsAtMs: DAY_BEGIN + 5,
        graceUntilMs: DAY_BEGIN + 6,
        wrappedUpAtMs: DAY_BEGIN + 7,
        ownerNode: 'another',
        fence: 2,
        version: record.version + 1,
      }),
    );

    test('are inserted and saved without the fields that only a later build knows', async () => {
      const record = call();
      await calls().insert({ ...record, ofALaterBuild: true } as CallRecord, MANY);
      expect(await calls().load(record.id)).toEqual(record);
      const next = { ...record, ...open, version: 2 };
      expect(await calls().save({ ...next, ofALaterBuild: true } as CallRecord, 1)).toBe(true);
      expect(await calls().load(record.id)).toEqual(next);
    });

    test('of 64 calls of a session that begin at the same time one is created; the others are in progress', async () => {
      const sessionId = `s:${randomId()}`;
      const inserted = await atOnce(RACERS, () => calls().insert(call({ sessionId }), MANY));
      expect(inserted.filter((one) => one === 'inserted')).toHaveLength(1);
      expect(inserted.filter((one) => one === 'in_progress')).toHaveLength(RACERS - 1);
      expect(await calls().ofSession(sessionId)).toHaveLength(1);
    });

    test('a session never has more calls than allowed, however they begin, and a refused call is not stored', async () => {
      const sessionId = `s:${randomId()}`;
      expect(await calls().insert(call({ sessionId, ...open }), 2)).toBe('inserted');
      expect(await calls().insert(call({ sessionId, ...closed }), 2)).toBe('inserted');
      const refused = call({ sessionId });
      expect(await calls().insert(refused, 2)).toBe('too_many');
      expect(await calls().load(refused.id)).toBeUndefined();
      expect(await calls().insert(call({ sessionId }), 3)).toBe('inserted');
    });

    test("a session's own calls are listed, newest first", async () => {
      const sessionId = `s:${randomId()}`;
      const [first, second] = [0, 1].map((n) => call({ sessionId, ...open, createdAtMs: DAY_BEGIN + n }));
      for (const one of [first, second, call()]) await calls().insert(one as CallRecord, MANY);
      expect(await calls().ofSession(sessionId)).toEqual([second, first]);
    });

    test('a list has each call that matches the filter exactly once, newest first, page by page', async () => {
      const tenantId = `acme-${randomId()}`;
      const made = [0, 1, 1, 2, 3].map((n) => call({ tenantId, ...open, createdAtMs: DAY_BEGIN + n }));
      for (const one of [...made, call({ ...open })]) await calls().insert(one, MANY);
      const order = (one: CallRecord, other: CallRecord) =>
        other.createdAtMs - one.createdAtMs || (one.id < other.id ? 1 : -1);
      const found: CallRecord[] = [];
      let after: Parameters<VoiceCalls['list']>[1];
      do {
        const page = await calls().list({ tenantId }, after, 2);
        expect(page.rows.length).toBeLessThanOrEqual(2);
        found.push(...page.rows.map(({ record }) => record));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(made.toSorted(order));
    });

    test('a list is filtered by state, hang-up, key and tenants, and a wildcard matches nothing', async () => {
      const tenantId = `acme-${randomId()}`;
      const other = `other-${randomId()}`;
      const talking = call({ tenantId, keyId: 'site', ...open });
      const over = call({ tenantId, ...closed, hangup: 'unconfirmed' });
      const foreign = call({ tenantId: other, keyId: 'site', ...open });
      for (const one of [talking, over, foreign]) await calls().insert(one, MANY);
      const list = async (filter: Parameters<VoiceCalls['list']>[0]) =>
        (await calls().list(filter, undefined, 10)).rows.map(({ record }) => record.id);
      expect(await list({ tenantId, states: ['open'] })).toEqual([talking.id]);
      expect(await list({ tenantId, hangups: ['unconfirmed', 'asked'] })).toEqual([over.id]);
      expect(await list({ tenantId, keyId: 'site' })).toEqual([talking.id]);
      expect(await list({ tenants: [other] })).toEqual([foreign.id]);
      expect(await list({ tenants: [other], tenantId })).toEqual([]);
      expect(await list({ tenants: [] })).toEqual([]);
      expect(await list({ tenantId, agentId: 'guide' })).toEqual([]);
      for (const wild of ['%', '_', `${tenantId.slice(0, -1)}_`]) expect(await list({ tenantId: wild })).toEqual([]);
    });

    test('calls that should have been hung up since an instant are counted, for all tenants or for some', async () => {
      const tenantId = `acme-${randomId()}`;
      const closing = { ...open, tenantId, state: 'closing', closeReason: 'lost', closingAtMs: DAY_BEGIN + 5 } as const;
      const all = await calls().countClosing(DAY_BEGIN + 5);
      const late = call(closing);
      const made = [
        late,
        call({ ...closing, closingAtMs: null }),
        call({ tenantId, ...open }),
        call({ tenantId, ...closed }),
      ];
      for (const one of made) await calls().insert(one, MANY);
      const count = (beforeMs: number) => calls().countClosing(beforeMs, [tenantId]);
      expect([await count(DAY_BEGIN + 4), await count(DAY_BEGIN + 5)]).toEqual([0, 1]);
      expect(await calls().countClosing(DAY_BEGIN + 5)).toBeGreaterThan(all);
      expect([await calls().countClosing(DAY_BEGIN + 5, []), await calls().countClosing(DAY_BEGIN + 5, ['%'])]).toEqual(
        [0, 0],
      );
      await calls().save({ ...late, ...closed, version: 2 }, 1);
      expect(await count(DAY_BEGIN + 5)).toBe(0);
    });

    test('calls that are not over are counted, for all tenants or for some', async () => {
      const tenantId = `acme-${randomId()}`;
      const before = await calls().countUnclosed();
      const closing = { ...open, tenantId, state: 'closing', closeReason: 'lost', closingAtMs: DAY_BEGIN } as const;
      for (const one of [{}, open, closing, closed]) await calls().insert(call({ ...one, tenantId }), MANY);
      expect(await calls().countUnclosed([tenantId])).toEqual({ open: 2, closing: 1 });
      expect(await calls().countUnclosed([])).toEqual({ open: 0, closing: 0 });
      const { open: all } = await calls().countUnclosed();
      expect(all).toBeGreaterThanOrEqual(before.open + 2);
    });

    test('a node gets its own due calls, from their instant on, longest overdue first', async () => {
      const ownerNode = randomId();
      const last = call({ ownerNode, giveUpAtMs: DAY_BEGIN + 3 });
      const first = call({ ownerNode, ...open, providerEndsAtMs: DAY_BEGIN + 1 });
      const second = call({ ownerNode, ...closed, graceUntilMs: DAY_BEGIN + 2 });
      const never = call({ ownerNode, ...closed });
      for (const one of [last, first, second, never, call({ giveUpAtMs: DAY_BEGIN })]) await calls().insert(one, MANY);
      expect(await calls().due(ownerNode, DAY_BEGIN, 10)).toEqual([]);
      expect(await calls().due(ownerNode, DAY_BEGIN + 3, 10)).toEqual([first, second, last]);
      expect(await calls().due(ownerNode, DAY_BEGIN + 3, 1)).toEqual([first]);
      await calls().save({ ...first, providerEndsAtMs: DAY_BEGIN + 9, version: 2 }, 1);
      expect(await calls().due(ownerNode, DAY_BEGIN + 3, 1)).toEqual([second]);
    });

    test('calls whose node is not alive are orphans, unless they are over', async () => {
      const ownerNode = randomId();
      const underWay = call({ ownerNode, ...open, fence: 4 });
      const ending = call({ ownerNode, ...closed, graceUntilMs: DAY_BEGIN });
      for (const one of [underWay, ending, call({ ownerNode, ...closed })]) await calls().insert(one, MANY);
      const found = async (atMs: number, fingerprints: readonly string[] = []) => {
        const orphans = await calls().orphans(atMs, fingerprints, 10_000);
        return orphans.filter(({ id }) => [underWay.id, ending.id].includes(id)).toSorted((a, b) => b.fence - a.fence);
      };
      const orphans = (ownerUntilMs: number | null) => [
        {
          id: underWay.id,
          sessionId: underWay.sessionId,
          provider: 'local',
          fingerprint: 'one',
          ownerNode,
          fence: 4,
          ownerUntilMs,
        },
        {
          id: ending.id,
          sessionId: ending.sessionId,
          provider: 'local',
          fingerprint: 'one',
          ownerNode,
          fence: 1,
          ownerUntilMs,
        },
      ];
      expect(await found(DAY_BEGIN)).toEqual(orphans(null));
      await stores().nodes.renew(ownerNode, DAY_BEGIN + 1, DAY_BEGIN);
      await stores().nodes.renew(ownerNode, DAY_BEGIN + 10, DAY_BEGIN);
      expect(await found(DAY_BEGIN + 9)).toEqual([]);
      expect(await found(DAY_BEGIN + 10)).toEqual(orphans(DAY_BEGIN + 10));
      await stores().nodes.leave(ownerNode);
      expect(await found(DAY_BEGIN)).toEqual(orphans(null));
    });

    test('a node has another one for as long as that one is alive', async () => {
      const [one, other] = [randomId(), randomId()];
      // Long after the leases of other tests' nodes.
      const at = DAY_BEGIN * 2;
      expect(await stores().nodes.hasOther(one, at)).toBe(false);
      expect(await stores().nodes.renew(one, at + 10, at)).toEqual([]);
      expect(await stores().nodes.hasOther(one, at)).toBe(false);
      expect(await stores().nodes.renew(other, at + 10, at)).toEqual([{ node: one, untilMs: at + 10 }]);
      expect(await stores().nodes.renew(other, at + 10, at + 10)).toEqual([]);
      expect(await stores().nodes.hasOther(one, at)).toBe(true);
      expect(await stores().nodes.hasOther(one, at + 10)).toBe(false);
      await stores().nodes.leave(other);
      expect(await stores().nodes.hasOther(one, at)).toBe(false);
      await stores().nodes.leave(one);
    });

    test('calls for which their owner lacks the credential are orphans to nodes that have it', async () => {
      const ownerNode = randomId();
      const [mine, other] = [randomId(), randomId()];
      await stores().nodes.renew(ownerNode, DAY_BEGIN + 10, DAY_BEGIN);
      const foreign = { ownerNode, ...open, hangup: 'unconfirmed' } as const;
      const lost = call({ ...foreign, fingerprint: mine });
      const over = { ...foreign, ...closed, fingerprint: mine };
      for (const one of [
        lost,
        call({ ...foreign, fingerprint: other }),
        call(over),
        call({ ...foreign, fingerprint: null }),
      ])
        await calls().insert(one, MANY);
      const found = await calls().orphans(DAY_BEGIN, [mine, randomId()], 10_000);
      expect(found.filter(({ id }) => id === lost.id)).toMatchObject([
        { fingerprint: mine, ownerUntilMs: DAY_BEGIN + 10 },
      ]);
      expect(found.filter(({ fingerprint }) => fingerprint === other)).toEqual([]);
      expect(await calls().orphans(DAY_BEGIN, [other], 10_000)).not.toContainEqual(
        expect.objectContaining({ id: lost.id }),
      );
    });

    test('calls that may be open at other providers are counted, and some are named', async () => {
      const provider = randomId();
      const providerEndsAtMs = DAY_BEGIN + 100;
      const many = [0, 1, 2, 3].map((n) => call({ provider, ...open, providerEndsAtMs, createdAtMs: DAY_BEGIN + n }));
      const others = [{ ...closed, providerEndsAtMs }, { ...open, providerEndsAtMs: DAY_BEGIN }, {}];
      for (const one of [...many, ...others.map((changes) => call({ provider, ...changes }))])
        await calls().insert(one, MANY);
      const elsewhere = async (from: string, atMs: number) =>
        (await calls().openElsewhere(from, atMs)).filter((one) => one.provider === provider);
      const newest = many
        .toReversed()
        .slice(0, 3)
        .map(({ id }) => id);
      expect(await elsewhere('another', DAY_BEGIN)).toEqual([
        { provider, count: 4, endsAtMs: providerEndsAtMs, newest },
      ]);
      expect(await elsewhere(provider, DAY_BEGIN)).toEqual([]);
      expect(await elsewhere('another', providerEndsAtMs)).toEqual([]);
    });
  });
}
