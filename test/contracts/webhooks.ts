import { describe, expect, test } from 'vitest';
import { LAST_PROBE_MS, newEndpoint } from '../../machines/webhook-endpoint/selectors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../src/kernel/time.ts';
import type { ClaimRequest, DeliveryOutcome, WebhookEndpoint, Webhooks } from '../../src/stores/webhooks/contract.ts';
import { recordStoreContract } from './record-store.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const MANY = 1000;
const LEASE_MS = 30_000;

export function anEndpoint(changes: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  const id = `wh_${randomId()}`;
  return {
    ...newEndpoint(id),
    tenantId: randomId(),
    url: 'https://hooks.example.com/switchboard',
    types: ['session.started', 'session.ended'],
    createdAtMs: DAY_BEGIN,
    createdBy: 'ops@example.com',
    ...changes,
  };
}

/** Claims everything that is due, which may include rows of other tests. */
export function claimRequest(atMs: number, changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    atMs,
    untilMs: atMs + LEASE_MS,
    busy: [],
    maxEndpoints: 10_000,
    each: 100,
    eachMissed: 100,
    missedEveryMs: 1,
    ...changes,
  };
}

function outcome(changes: Partial<DeliveryOutcome> = {}): DeliveryOutcome {
  const usual = { state: 'delivered', attempts: 1, nextAtMs: null, status: 204, code: null, ms: 12 } as const;
  return { ...usual, atMs: DAY_BEGIN + 50, ...changes };
}

export function webhooksContract(name: string, make: (maxScanned?: number) => Make<Webhooks>): void {
  describe(`webhooks, ${name}`, () => {
    const webhooks = nodesOf(make());
    const scanned = nodesOf(make(4));

    recordStoreContract(
      () => {
        const store = webhooks();
        return { ...store, insert: (record) => store.insert(anEndpoint(record), MANY) };
      },
      () => newEndpoint(`wh_${randomId()}`),
      (record) => ({
        ...record,
        state: 'failing' as const,
        failingSinceMs: DAY_BEGIN,
        probeAtMs: DAY_BEGIN + 1,
        version: record.version + 1,
      }),
    );

    async function added(changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
      const endpoint = anEndpoint(changes);
      expect(await webhooks().insert(endpoint, MANY)).toBe(true);
      return endpoint;
    }

    /** Sends an endpoint events, one per millisecond. */
    async function tell(id: string, times = 1, atMs = DAY_BEGIN): Promise<string[]> {
      const ids: string[] = [];
      for (let n = 0; n < times; n += 1)
        ids.push((await webhooks().tell(id, 'webhook.test', { n }, atMs + n)) as string);
      return ids;
    }

    const claimOf = async (id: string, atMs: number, changes: Partial<ClaimRequest> = {}) =>
      (await webhooks().claim(claimRequest(atMs, changes))).claimed.find((one) => one.id === id);

    describe('endpoints', () => {
      test('are found as they were added, on every node', async () => {
        const endpoint = await added();
        expect(await webhooks().find(endpoint.id)).toEqual(endpoint);
        expect(await webhooks().find('wh_nobody')).toBeUndefined();
        expect(await webhooks().insert(endpoint, MANY)).toBe(false);
      });

      test('concurrent inserts for one tenant never exceed its limit', async () => {
        const tenantId = randomId();
        const inserted = await atOnce(RACERS, () => webhooks().insert(anEndpoint({ tenantId }), 10));
        expect(inserted.filter(Boolean)).toHaveLength(10);
        expect(await webhooks().list([tenantId])).toHaveLength(10);
      });

      test('are listed by tenant; those of the installation only for those who may see everything', async () => {
        const [mine, other, common] = [await added(), await added(), await added({ tenantId: null })];
        expect(await webhooks().list([mine.tenantId as string])).toEqual([mine]);
        expect(await webhooks().list([])).toEqual([]);
        expect(await webhooks().list([''])).toEqual([]);
        expect(await webhooks().list()).toEqual(expect.arrayContaining([mine, other, common]));
        await webhooks().delete(common.id);
      });

      test('change only in the given fields', async () => {
        const endpoint = await added();
        const url = 'https://other.example.com/';
        const moved = { ...endpoint, url, version: 2 };
        expect(await webhooks().change(endpoint.id, { url })).toEqual(moved);
        const narrowed = { ...moved, types: ['call.closed'], version: 3 };
        expect(await webhooks().change(endpoint.id, { types: ['call.closed'] })).toEqual(narrowed);
        expect(await webhooks().find(endpoint.id)).toEqual(narrowed);
        expect(await webhooks().change('wh_nobody', { url })).toBeUndefined();
      });

      test('get nothing more once they are deleted, and leave no deliveries', async () => {
        const endpoint = await added();
        const [event] = await tell(endpoint.id);
        expect(await webhooks().delete(endpoint.id)).toBe(true);
        expect(await webhooks().delete(endpoint.id)).toBe(false);
        expect(await claimOf(endpoint.id, DAY_BEGIN)).toBeUndefined();
        expect(await webhooks().delivery(endpoint.id, event as string)).toBeUndefined();
        expect(await webhooks().tell(endpoint.id, 'webhook.test', {}, DAY_BEGIN)).toBeUndefined();
      });
    });

    describe('claims', () => {
      test('contain the oldest deliveries first, with the body to send', async () => {
        const { id, tenantId, url } = await added();
        const [first, second] = await tell(id, 2);
        const body = '{"type" : "webhook.test", "timestamp" : "2030-01-01T00:00:00.000Z", "data" : {"n":0}}';
        const claim = { endpointId: id, attempts: 0, trace: null, untilMs: DAY_BEGIN + 1 + LEASE_MS };
        expect(await claimOf(id, DAY_BEGIN + 1)).toEqual({
          id,
          tenantId,
          url,
          failures: 0,
          state: 'healthy',
          deliveries: [
            { ...claim, eventId: first, atMs: DAY_BEGIN, body },
            { ...claim, eventId: second, atMs: DAY_BEGIN + 1, body: expect.stringContaining('{"n":1}') },
          ],
        });
        expect(first).toMatch(/^evt_[\w-]{22}$/);
      });

      test('belong to one node until the lease ends, however many claim concurrently', async () => {
        const { id } = await added();
        await tell(id, 20);
        const at = DAY_BEGIN + 100;
        const claims = await atOnce(8, () => claimOf(id, at, { each: 3 }));
        const claimed = claims.flatMap((claim) => claim?.deliveries ?? []).map(({ eventId }) => eventId);
        expect(new Set(claimed).size).toBe(claimed.length);
        const rest = await claimOf(id, at);
        expect(claimed.length + (rest?.deliveries.length ?? 0)).toBe(20);
        expect(await claimOf(id, at + LEASE_MS - 1)).toBeUndefined();
        expect((await claimOf(id, at + LEASE_MS))?.deliveries).toHaveLength(20);
      });

      test('contain as many deliveries as requested, and none of a busy endpoint', async () => {
        const { id } = await added();
        await tell(id, 5);
        const at = DAY_BEGIN + 60_000;
        expect(await claimOf(id, at, { busy: [id] })).toBeUndefined();
        expect((await claimOf(id, at, { each: 3 }))?.deliveries).toHaveLength(3);
        expect((await claimOf(id, at, { each: 3, eachMissed: 1 }))?.deliveries).toHaveLength(2);
      });

      test('contain fewer of the deliveries that a recovered endpoint missed, besides newer ones', async () => {
        const { id } = await added({ healthySinceMs: DAY_BEGIN + 4 });
        await tell(id, 8);
        const pace = { each: 3, eachMissed: 1, missedEveryMs: 100 };
        const agesOf = async (atMs: number) =>
          (await claimOf(id, atMs, pace))?.deliveries.map((one) => one.atMs - DAY_BEGIN);
        expect(await agesOf(DAY_BEGIN + 10)).toEqual([0, 4, 5, 6]);
        expect(await agesOf(DAY_BEGIN + 10)).toEqual([7]);
        expect(await agesOf(DAY_BEGIN + 109)).toBeUndefined();
        expect(await agesOf(DAY_BEGIN + 110)).toEqual([1]);
        expect(await agesOf(DAY_BEGIN + 900)).toEqual([2]);
      });

      test('of what a recovered endpoint missed keep one pace over all nodes, whenever these look', async () => {
        const { id } = await added({ healthySinceMs: DAY_BEGIN + 100 });
        await tell(id, 40);
        const pace = { eachMissed: 2, missedEveryMs: 120, untilMs: DAY_BEGIN + HOUR_MS };
        const claimedAt = async (atMs: number, nodes: number): Promise<number[]> => {
          const claims = await atOnce(nodes, () => claimOf(id, atMs, pace));
          return claims.flatMap((claim) => claim?.deliveries ?? []).map(() => atMs);
        };
        let atMs = DAY_BEGIN + 200;
        const times: number[] = [];
        for (let round = 0; round < 5; round += 1) {
          const claimed = await claimedAt((atMs += 250), 8);
          expect(claimed).toHaveLength(2);
          times.push(...claimed);
        }
        const first = atMs;
        for (const stepMs of [
          250, 3, 40, 119, 1, 250, 90, 90, 90, 250, 17, 33, 50, 50, 50, 50, 50, 250, 250, 250, 250,
        ]) {
          atMs += stepMs;
          times.push(...(await claimedAt(atMs, 2)));
        }
        const inSecondFrom = (fromMs: number) => times.filter((one) => one >= fromMs && one < fromMs + 1000).length;
        expect(Math.max(...times.map(inSecondFrom))).toBeLessThanOrEqual(10);
        // Nodes that look seldom lose what they had room for, except two.
        expect(times.length).toBeGreaterThanOrEqual(10 + Math.floor((atMs - first) / 130));
      });

      test('of what a recovered endpoint missed keep one pace if the clocks of two nodes differ', async () => {
        const { id } = await added({ healthySinceMs: DAY_BEGIN + 100 });
        await tell(id, 90);
        const pace = { eachMissed: 2, missedEveryMs: 120, untilMs: DAY_BEGIN + HOUR_MS };
        const times: number[] = [];
        for (let atMs = DAY_BEGIN + 1000; atMs < DAY_BEGIN + 6000; atMs += 125) {
          const behindMs = atMs % 250 === 0 ? 700 : 0;
          times.push(...((await claimOf(id, atMs - behindMs, pace))?.deliveries ?? []).map(() => atMs));
        }
        // One node alone would be sent 8 a second.
        expect(times.length).toBeGreaterThanOrEqual(5 * 7);
        expect(times.length).toBeLessThanOrEqual(5 * 9);
      });

      test('let an endpoint that is catching up wait for one whose deliveries became due before its last turn', async () => {
        const old = DAY_BEGIN - 3 * DAY_MS;
        const away = await added({ healthySinceMs: old + 50 });
        await tell(away.id, 9, old);
        const other = await added();
        await tell(other.id, 1, old + 90);
        const ours = new Set([away.id, other.id]);
        const busy = (await webhooks().list()).map(({ id }) => id).filter((id) => !ours.has(id));
        const claimed = async (atMs: number) => {
          const most = { maxEndpoints: 1, eachMissed: 2, missedEveryMs: 120 };
          const found = await webhooks().claim(claimRequest(atMs, { busy, ...most }));
          return found.claimed.map(({ id, deliveries }) => [id, deliveries.length]);
        };
        expect(await claimed(old + 100)).toEqual([[away.id, 2]]);
        expect(await claimed(old + 350)).toEqual([[other.id, 1]]);
        expect(await claimed(old + 350)).toEqual([[away.id, 2]]);
      });

      test.each(['failing', 'disabled'] as const)('contain nothing of an endpoint that is %s', async (state) => {
        const { id } = await added({ state, probeAtMs: state === 'failing' ? DAY_BEGIN : null });
        await tell(id);
        expect(await claimOf(id, DAY_BEGIN)).toBeUndefined();
        expect((await webhooks().claimOne(id, DAY_BEGIN, DAY_BEGIN + LEASE_MS))?.deliveries).toHaveLength(1);
        expect(await webhooks().claimOne(id, DAY_BEGIN, DAY_BEGIN + LEASE_MS)).toBeUndefined();
      });

      test('of probes contain failing endpoints that are due and have something to send, or that are to be given up', async () => {
        const failing = { state: 'failing', failingSinceMs: DAY_BEGIN, probeAtMs: DAY_BEGIN + 10 } as const;
        const [due, idle, old] = [
          await added(failing),
          await added(failing),
          await added({ ...failing, failingSinceMs: 1, probeAtMs: 10 }),
        ];
        await tell(due.id);
        const probes = async (atMs: number) => {
          const all = await webhooks().probesDue(atMs, 1, MANY);
          return [due, idle, old].filter(({ id }) => all.includes(id));
        };
        expect(await probes(DAY_BEGIN + 9)).toEqual([old]);
        expect(await probes(DAY_BEGIN + 10)).toEqual([due, old]);
      });

      test('that are given back are due again, for whichever node comes first', async () => {
        const { id } = await added();
        await tell(id);
        const claim = await claimOf(id, DAY_BEGIN);
        await webhooks().release(claim?.deliveries ?? [], DAY_BEGIN + 1);
        const again = await claimOf(id, DAY_BEGIN + 1);
        expect(again?.deliveries).toMatchObject([{ attempts: 0 }]);
        // The first claim has nothing left to give back.
        await webhooks().release(claim?.deliveries ?? [], DAY_BEGIN + 2);
        expect(await claimOf(id, DAY_BEGIN + 2)).toBeUndefined();
        await webhooks().release([], DAY_BEGIN);
      });
    });

    describe('a clock that was set back', () => {
      const longestMs = [LEASE_MS, 60_000, 300_000];

      test('makes only deliveries due that would wait longer than they may', async () => {
        const { id } = await added();
        const [first, second] = (await tell(id, 2)) as [string, string];
        const claim = await claimOf(id, DAY_BEGIN + 1, { each: 1 });
        const failed = { state: 'waiting', status: 500, attempts: 2, nextAtMs: DAY_BEGIN + 270_001 } as const;
        await webhooks().finish(claim?.deliveries[0] as never, outcome(failed));
        const nextOf = async (eventId: string) => (await webhooks().delivery(id, eventId))?.nextAtMs;
        const both = async () => [await nextOf(first), await nextOf(second)];
        const [before, early] = [DAY_BEGIN - LEASE_MS + 1, DAY_BEGIN - LEASE_MS];
        await webhooks().hurry(before, longestMs);
        expect(await both()).toEqual([DAY_BEGIN + 270_001, DAY_BEGIN + 1]);
        await webhooks().hurry(early, longestMs);
        expect(await both()).toEqual([early, early]);
      });

      test('makes a failing endpoint due whose next probe is later than any probe may be', async () => {
        const times = { failingSinceMs: DAY_BEGIN, probeAtMs: DAY_BEGIN + 10 };
        const { id } = await added({ state: 'failing', ...times });
        await tell(id, 1, DAY_BEGIN - 7_200_000);
        const isDue = async (atMs: number) => (await webhooks().probesDue(atMs, 1, MANY)).includes(id);
        expect(await isDue(DAY_BEGIN + 10 - LAST_PROBE_MS)).toBe(false);
        expect(await isDue(DAY_BEGIN + 9 - LAST_PROBE_MS)).toBe(true);
      });

      test('does not stop an endpoint that was sent something before from catching up', async () => {
        const { id } = await added({ healthySinceMs: DAY_BEGIN - 2 * HOUR_MS });
        await tell(id, 6, DAY_BEGIN - 3 * HOUR_MS);
        const pace = { eachMissed: 2, missedEveryMs: 120 };
        expect((await claimOf(id, DAY_BEGIN, pace))?.deliveries).toHaveLength(2);
        expect((await claimOf(id, DAY_BEGIN - HOUR_MS, pace))?.deliveries).toHaveLength(2);
        expect(await claimOf(id, DAY_BEGIN - HOUR_MS, pace)).toBeUndefined();
      });

      test('does not make an endpoint count as having missed events because it recovered later than now', async () => {
        const { id } = await added({ healthySinceMs: DAY_BEGIN + 60_000 });
        await tell(id, 4);
        expect((await claimOf(id, DAY_BEGIN + 10, { eachMissed: 1 }))?.deliveries).toHaveLength(4);
      });
    });

    describe('outcomes', () => {
      async function claimedOne() {
        const { id } = await added();
        const [eventId] = (await tell(id)) as [string];
        const claim = (await claimOf(id, DAY_BEGIN))?.deliveries[0];
        if (claim === undefined) throw new Error('nothing was claimed');
        return { id, eventId, claim, now: () => webhooks().delivery(id, eventId) };
      }

      test('of an answered request are kept, and it is not sent again', async () => {
        const { id, claim, now } = await claimedOne();
        await webhooks().finish(claim, outcome());
        expect(await now()).toEqual({
          eventId: claim.eventId,
          endpointId: id,
          type: 'webhook.test',
          session: null,
          atMs: DAY_BEGIN,
          state: 'delivered',
          attempts: 1,
          nextAtMs: null,
          doneAtMs: DAY_BEGIN + 50,
          lastAtMs: DAY_BEGIN + 50,
          lastStatus: 204,
          lastCode: null,
          ms: 12,
          body: claim.body,
        });
        expect(await claimOf(id, DAY_BEGIN + LEASE_MS)).toBeUndefined();
      });

      test('of a failed request say when it is sent again', async () => {
        const { id, claim, now } = await claimedOne();
        const failed = { state: 'waiting', status: null, code: 'timed_out' } as const;
        await webhooks().finish(claim, outcome({ ...failed, nextAtMs: DAY_BEGIN + 5000 }));
        expect(await now()).toMatchObject({
          state: 'waiting',
          lastCode: 'timed_out',
          doneAtMs: null,
          nextAtMs: DAY_BEGIN + 5000,
        });
        expect(await claimOf(id, DAY_BEGIN + 4999)).toBeUndefined();
        expect((await claimOf(id, DAY_BEGIN + 5000))?.deliveries).toMatchObject([{ attempts: 1 }]);
      });

      test('of a node whose lease has ended change nothing, unless the event was delivered', async () => {
        const { id, claim, now } = await claimedOne();
        const later = DAY_BEGIN + LEASE_MS;
        await claimOf(id, later);
        await webhooks().finish(claim, outcome({ state: 'dead', status: 500 }));
        expect(await now()).toMatchObject({ state: 'waiting', nextAtMs: later + LEASE_MS, attempts: 0 });
        await webhooks().finish(claim, outcome());
        expect(await now()).toMatchObject({ state: 'delivered' });
        await webhooks().finish(claim, outcome({ state: 'dead', status: 500 }));
        expect(await now()).toMatchObject({ state: 'delivered', lastStatus: 204 });
      });
    });

    describe('lists', () => {
      test('have the newest deliveries first, in pages, by state and type', async () => {
        const { id } = await added();
        const events = await tell(id, 5);
        const claim = await claimOf(id, DAY_BEGIN);
        await webhooks().finish(claim?.deliveries[0] as never, outcome());
        const newest = events.toReversed();
        const first = await webhooks().deliveries({ endpointId: id }, undefined, 3);
        expect(first.rows.map(({ eventId }) => eventId)).toEqual(newest.slice(0, 3));
        const rest = await webhooks().deliveries({ endpointId: id }, first.next, 3);
        expect(rest.rows.map(({ eventId }) => eventId)).toEqual(newest.slice(3));
        expect(rest.next).toBeUndefined();
        const ids = async (filter: object) =>
          (await webhooks().deliveries({ endpointId: id, ...filter }, undefined, 9)).rows.map(({ eventId }) => eventId);
        expect(await ids({ state: 'delivered' })).toEqual([events[0]]);
        expect(await ids({ type: 'call.closed' })).toEqual([]);
        expect(await ids({ session: 's:nobody' })).toEqual([]);
        expect(await webhooks().countWaiting([id])).toEqual(new Map([[id, 4]]));
      });

      test('examine a bounded number of rows for each page', async () => {
        const { id } = await added();
        await tell(id, 6);
        const page = await scanned().deliveries({ endpointId: id, state: 'dead' }, undefined, 3);
        expect(page).toMatchObject({ rows: [], isPartial: true, next: { atMs: DAY_BEGIN + 2 } });
        expect(await scanned().deliveries({ endpointId: id, state: 'dead' }, page.next, 3)).toMatchObject({
          rows: [],
          isPartial: false,
        });
      });
    });

    describe('replays', () => {
      test('send a delivery again under its id, with all its tries left', async () => {
        const { id } = await added();
        const [eventId] = (await tell(id)) as [string];
        const claim = await claimOf(id, DAY_BEGIN);
        await webhooks().finish(claim?.deliveries[0] as never, outcome({ state: 'dead', attempts: 10, status: 500 }));
        expect(await webhooks().replay(id, 'evt_nothing', DAY_BEGIN)).toBe(false);
        expect(await webhooks().replay(id, eventId, DAY_BEGIN + 70)).toBe(true);
        expect((await claimOf(id, DAY_BEGIN + 70))?.deliveries).toMatchObject([{ eventId, attempts: 0 }]);
      });

      test('of many select by time and types, without waiting deliveries', async () => {
        const { id } = await added();
        await tell(id, 6);
        const claim = await claimOf(id, DAY_BEGIN + 10);
        for (const one of claim?.deliveries.slice(0, 5) ?? []) await webhooks().finish(one, outcome());
        const span = { endpointId: id, fromMs: DAY_BEGIN + 1, toMs: DAY_BEGIN + 6 };
        expect(await webhooks().countReplay(span)).toBe(4);
        expect(await webhooks().countReplay({ ...span, types: ['call.closed'] })).toBe(0);
        expect(await webhooks().replayMany(span, DAY_BEGIN + 20)).toBe(4);
        const again = await claimOf(id, DAY_BEGIN + 20);
        expect(again?.deliveries.map(({ atMs }) => atMs - DAY_BEGIN)).toEqual([1, 2, 3, 4]);
      });
    });
  });
}
