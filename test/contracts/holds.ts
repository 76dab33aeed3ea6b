import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Database } from '../../src/database/database.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { Holds } from '../../src/stores/holds/contract.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';
import type { CallUsage, Ledger, UsageTotals } from '../../src/stores/ledger/contract.ts';
import type { Retention } from '../../src/stores/retention/contract.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import type { VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import { usageOf } from './call-usage.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, RACERS, voiceRecord, type Make } from './support.ts';
import { call } from './voice-calls.ts';
import { entryOf } from './roll-ups.ts';

const TODAY = '2030-01-01';
const HOUR_MS = 3_600_000;

export interface HoldsNode {
  readonly holds: Holds;
  readonly ledger: Ledger;
  readonly history: VoiceHistory;
  readonly calls: VoiceCalls;
  readonly retention: Retention;
  readonly database: Database;
}

export function holdsContract(name: string, make: Make<HoldsNode>): void {
  describe(`what sessions with calls hold back, ${name}`, () => {
    const node = nodesOf(make);
    const at = DAY_BEGIN;
    const half = { tokens: 0, microDollars: 500 };
    const of = (account: string, microDollars: number, tokens = Infinity) => ({
      account,
      day: TODAY,
      ceilings: {
        tokens,
        microDollars,
      },
    });
    const take = (id: string, accounts: readonly ReturnType<typeof of>[], wanted: UsageTotals = half, now = at) =>
      node().holds.take(id, accounts, wanted, at + HOUR_MS, now);
    const heldBy = async (account: string, sessionId: string, now = at) =>
      (await node().holds.standing(account, TODAY, sessionId, now)).heldByOthers;
    const held = (account: string, now = at) => heldBy(account, 'nobody', now);
    const use = (subject: string, microDollars: number, tokens = 0) =>
      node().ledger.record(entryOf(subject, { tokens, microDollars, atMs: at }));

    const spend = (sessionId: string, subject: string, microDollars: number, changes: Partial<CallUsage> = {}) =>
      node().ledger.recordCall(
        usageOf(`call_${sessionId}`, subject, {
          sessionId,
          picoDollars: BigInt(microDollars) * 1_000_000n,
          ...changes,
        }),
      );
    /** Sums that differ from their holds, and sums without any holds. */
    const wrongSums = () =>
      node().database.run(
        (sql) => sql`
          select account, shard, kept.micro_dollars as kept, held.micro_dollars as held from hold_sum as kept full join (
            select account, hold_shard(session_id) as shard, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as micro_dollars
            from usage_hold group by 1, 2 having sum(tokens) <> 0 or sum(micro_dollars) <> 0
          ) as held using (account, shard)
          where (kept.tokens, kept.micro_dollars) is distinct from (held.tokens, held.micro_dollars)`,
      );

    test('each session holds what it wants, the last one what is left, and then none can', async () => {
      const subject = randomId();
      await use(subject, 100);
      const answers = [];
      for (let n = 0; n < 3; n += 1) answers.push(await take(randomId(), [of(subject, 800)]));
      expect(answers).toEqual([true, true, false]);
      expect(await held(subject)).toEqual({ tokens: 0, microDollars: 700 });
      expect(await take(randomId(), [of(randomId(), 800)])).toBe(true);
    });

    test('a session can be opened while anything is left, and none once a ceiling is reached', async () => {
      const subject = randomId();
      await use(subject, 799, 10);
      expect(await take(randomId(), [of(subject, 800, 10)])).toBe(false);
      expect(await take(randomId(), [of(subject, 799, 11)])).toBe(false);
      expect(await take(randomId(), [of(subject, 800, 11)])).toBe(true);
      expect(await held(subject)).toEqual({ tokens: 0, microDollars: 1 });
    });

    test('of two accounts both are held or neither', async () => {
      const [subject, key] = [randomId(), randomId()];
      expect(await take(randomId(), [of(subject, 800), of(key, 0)])).toBe(false);
      expect([await held(subject), await held(key)]).toEqual([
        { tokens: 0, microDollars: 0 },
        { tokens: 0, microDollars: 0 },
      ]);
      expect(await take(randomId(), [of(subject, 800), of(key, 100)])).toBe(true);
      expect((await held(subject)).microDollars).toBe(500);
      expect((await held(key)).microDollars).toBe(100);
    });

    test("a session's own hold does not count as a hold of others", async () => {
      const subject = randomId();
      const [one, other] = [randomId(), randomId()];
      await take(one, [of(subject, 10_000)], { tokens: 3, microDollars: 30 });
      await take(other, [of(subject, 10_000)], { tokens: 4, microDollars: 40 });
      expect(await heldBy(subject, one)).toEqual({ tokens: 4, microDollars: 40 });
    });

    test("what a session's calls have used no longer counts as held for others", async () => {
      const subject = randomId();
      const record = voiceRecord({ subject });
      await take(record.id, [of(subject, 10_000)]);
      const callId = `call_${randomId()}`;
      await node().calls.insert(call({ id: callId, sessionId: record.id, subject }), 3);
      const spend = (key: string, microDollars: bigint) =>
        node().ledger.recordCall(
          usageOf(callId, subject, { key, sessionId: record.id, picoDollars: microDollars * 1_000_000n }),
        );
      await spend('r1', 200n);
      expect((await held(subject)).microDollars).toBe(300);
      expect(await node().holds.standing(subject, TODAY, record.id, at)).toMatchObject({
        total: { microDollars: 200 },
      });
      await spend('r2', 400n);
      expect((await held(subject)).microDollars).toBe(0);
      // The usage counts, and nothing beyond it is held.
      expect(await take(randomId(), [of(subject, 600)])).toBe(false);
      expect(await take(randomId(), [of(subject, 1100)])).toBe(true);
      expect((await held(subject)).microDollars).toBe(500);
    });

    test('a session renews its hold with its next call and never holds twice', async () => {
      const subject = randomId();
      const id = randomId();
      await take(id, [of(subject, 500)]);
      await spend(id, subject, 400);
      expect((await held(subject)).microDollars).toBe(100);
      expect(await take(id, [of(subject, 10_000)])).toBe(true);
      expect((await held(subject)).microDollars).toBe(500);
      expect(await take(id, [of(subject, 600)])).toBe(true);
      expect((await held(subject)).microDollars).toBe(200);
    });

    test('is given back only by a session without a call', async () => {
      const subject = randomId();
      const record = voiceRecord({ subject });
      const calling = call({ sessionId: record.id, subject });
      await take(record.id, [of(subject, 500)]);
      await node().calls.insert(calling, 3);
      await node().holds.release(randomId());
      await node().holds.release(record.id);
      expect((await held(subject)).microDollars).toBe(500);
      await node().calls.save({ ...calling, state: 'closed', closedAtMs: at, version: 2 }, 1);
      await node().holds.release(record.id);
      expect((await held(subject)).microDollars).toBe(0);
    });

    /** A session without an open call, whose page has left: it waits for the next one. */
    const waiting = async (subject: string): Promise<CallRecord> => {
      const left = call({
        subject,
        sessionId: `s:${randomId()}`,
        state: 'closed',
        closedAtMs: at,
        giveUpAtMs: null,
        closeReason: 'remote',
        graceUntilMs: at,
      });
      await node().calls.insert(left, 3);
      await take(left.sessionId, [of(subject, 500)]);
      return left;
    };
    test('is given back by a session that waits for its next page, unless that has come or has a call', async () => {
      const subject = randomId();
      const left = await waiting(subject);
      await node().holds.releaseWaiting({ id: left.id, graceUntilMs: at - 1 });
      await node().holds.releaseWaiting({ id: randomId(), graceUntilMs: at });
      const next = call({ sessionId: left.sessionId, subject });
      await node().calls.insert(next, 3);
      await node().holds.releaseWaiting(left);
      expect((await held(subject)).microDollars).toBe(500);
      await node().calls.save({ ...next, state: 'closed', closedAtMs: at, version: 2 }, 1);
      await node().holds.releaseWaiting(left);
      expect((await held(subject)).microDollars).toBe(0);
      expect(await wrongSums()).toEqual([]);
    });

    test('stays while a page that resumes its session is being saved', async () => {
      const subject = randomId();
      const left = await waiting(subject);
      const { database, holds } = node();
      const done: unknown[] = [];
      const releasing = await database.transaction(async (sql) => {
        await sql`update voice_call set grace_until_ms = ${at + 1} where id = ${left.id}`;
        const release = holds.releaseWaiting(left).then((answer) => done.push(answer));
        // Until the release waits for this transaction. An engine with one connection has not begun it.
        for (let looks = 0; looks < 200 && done.length === 0; looks += 1) {
          const [waits] = await sql<{ any: boolean }[]>`select exists (select from pg_locks where not granted) as any`;
          if (waits?.any === true) break;
        }
        return [release];
      });
      await Promise.all(releasing);
      expect((await held(subject)).microDollars).toBe(500);
    });

    test('is given back by a session that is over, whatever its call does', async () => {
      const subject = randomId();
      const record = voiceRecord({ subject });
      await node().history.insert({ record, state: 'engaged' });
      await node().history.save([{ record: endedRecord(record), state: 'ended' }]);
      await node().calls.insert(call({ sessionId: record.id, subject }), 3);
      await take(record.id, [of(subject, 500)]);
      await node().holds.release(record.id);
      expect((await held(subject)).microDollars).toBe(0);
    });

    test.each(['idle', 'stale'] as const)(
      'is given back when the history hears that its session is %s',
      async (state) => {
        const [subject, key] = [randomId(), randomId()];
        const [record, other] = [voiceRecord({ subject }), voiceRecord({ subject })];
        for (const each of [record, other]) {
          await node().history.insert({ record: each, state: 'engaged' });
          await take(each.id, [of(subject, 5000), of(key, 5000)]);
        }
        await node().history.save([{ record: { ...record, version: 2 }, state: 'engaged' }]);
        expect((await held(key)).microDollars).toBe(1000);
        await node().history.save([{ record: { ...record, version: 3 }, state }]);
        expect([await held(subject), await held(key)]).toMatchObject([{ microDollars: 500 }, { microDollars: 500 }]);
        // A save of an older version than the stored one changes nothing.
        await take(record.id, [of(subject, 5000)]);
        await node().history.save([{ record: { ...record, version: 2 }, state }]);
        expect((await held(subject)).microDollars).toBe(1000);
      },
    );

    test('counts while its session is opened and until the history says that it is over', async () => {
      const subject = randomId();
      const record = voiceRecord({ subject });
      await take(record.id, [of(subject, 500)]);
      expect((await held(subject)).microDollars).toBe(500);
      await node().history.insert({ record, state: 'engaged' });
      expect(await take(randomId(), [of(subject, 500)])).toBe(false);
      await node().history.save([{ record: endedRecord(record), state: 'ended' }]);
      expect(await held(subject)).toEqual({ tokens: 0, microDollars: 0 });
      expect(await take(randomId(), [of(subject, 500)])).toBe(true);
    });

    test('lapses at its time, whatever happened to its session', async () => {
      const subject = randomId();
      await take(randomId(), [of(subject, 500)]);
      expect((await held(subject, at + HOUR_MS - 1)).microDollars).toBe(500);
      expect((await held(subject, at + HOUR_MS)).microDollars).toBe(0);
    });

    test('of 64 concurrent takes from a subject and a key on two nodes no more is held than is left', async () => {
      const subjects = Array.from({ length: 4 }, () => randomId());
      const key = randomId();
      const admitted = await atOnce(RACERS, (n) =>
        take(randomId(), [of(subjects[n % 4] as string, 1200), of(key, 3250)]),
      );
      expect(admitted.filter(Boolean)).toHaveLength(7);
      expect((await held(key)).microDollars).toBe(3250);
      for (const subject of subjects) expect((await held(subject)).microDollars).toBeLessThanOrEqual(1200);
    });

    const act = fc.record({
      what: fc.constantFrom(
        'take',
        'take',
        'spend',
        'spend',
        'spend',
        'idle',
        'end',
        'release',
        'lapse',
        'crash',
        'former',
        'recount',
      ),
      who: fc.nat(5),
      amount: fc.integer({ min: 1, max: 700 }),
      isBounded: fc.boolean(),
    });

    test('whatever happens concurrently on two nodes, the sums match the holds, and what is held is what is left of them', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(act, { maxLength: 8 }), { maxLength: 8 }), async (rounds) => {
          const key = randomId();
          const subjects = [randomId(), randomId()];
          const sessions = Array.from({ length: 6 }, (_, n) => voiceRecord({ subject: subjects[n % 2] as string }));
          for (const record of sessions) await node().history.insert({ record, state: 'engaged' });
          const versions = sessions.map(() => 1);
          for (const acts of rounds) {
            await Promise.all(
              acts.map(({ what, who, amount, isBounded }) => {
                const record = sessions[who] as VoiceRecord;
                const { id, subject } = record;
                const accounts = [of(subject, 1e6), ...(isBounded ? [of(key, 3000)] : [])];
                const version = (versions[who] = (versions[who] ?? 1) + 1);
                const keyAccount = isBounded ? key : null;
                if (what === 'take') return take(id, accounts, { tokens: amount, microDollars: amount });
                if (what === 'spend')
                  return spend(id, subject, amount, { keyAccount, tokens: { ...NO_TOKENS, textIn: amount } });
                if (what === 'idle') return node().history.save([{ record: { ...record, version }, state: 'idle' }]);
                if (what === 'end') return node().history.save([{ record: endedRecord(record), state: 'ended' }]);
                if (what === 'release') return node().holds.release(id);
                if (what === 'lapse') return node().retention.deleteSome('usageHolds', at + HOUR_MS + 1);
                if (what === 'crash') return crash(id, accounts, amount);
                return what === 'former' ? former(id, accounts, amount) : node().holds.recount();
              }),
            );
            expect(await wrongSums()).toEqual([]);
          }
          for (const account of [key, ...subjects]) {
            const [row] = await node().database.run(
              (sql) => sql<UsageTotals[]>`
                select coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as "microDollars"
                from usage_hold where account = ${account} and until_ms > ${at}`,
            );
            expect(await held(account)).toEqual(row);
          }
        }),
        { numRuns: 25 },
      );
    });

    /** A process that dies before it commits its transaction. */
    const crash = (id: string, accounts: readonly ReturnType<typeof of>[], amount: number) =>
      node()
        .database.transaction(async (sql) => {
          await sql`update usage_hold set micro_dollars = micro_dollars + ${amount} where session_id = ${id}`;
          await sql`delete from usage_hold where account = ${accounts[0]?.account ?? ''} and session_id = ${id}`;
          throw new Error('died');
        })
        .catch(() => undefined);

    /** What the build wrote that did not keep sums yet. */
    const former = async (id: string, accounts: readonly ReturnType<typeof of>[], amount: number) => {
      await node().database.run(
        (sql) => sql`
          insert into usage_hold (session_id, account, tokens, micro_dollars, until_ms)
          select ${id}, account, 0, ${amount}::bigint, ${at + HOUR_MS}::bigint
          from unnest(${accounts.map(({ account }) => account)}::text[]) as given (account)
          on conflict (session_id, account) do update set
            tokens = excluded.tokens, micro_dollars = excluded.micro_dollars, until_ms = excluded.until_ms`,
      );
      if (amount % 2 === 0) await node().database.run((sql) => sql`delete from usage_hold where session_id = ${id}`);
    };

    test('holds that an earlier build left for ended sessions are given back, and wrong sums are corrected', async () => {
      const [subject, key] = [randomId(), randomId()];
      const record = voiceRecord({ subject });
      await node().history.insert({ record, state: 'engaged' });
      await take(record.id, [of(subject, 500)]);
      // The session's end did not delete its hold.
      await node().database.run(
        (sql) =>
          sql`update voice_session set state = 'ended', ended_at_ms = ${at}, end_reason = 'closed_by_client' where id = ${record.id}`,
      );
      await take(randomId(), [of(key, 500)]);
      await node().database.run(
        (sql) => sql`update hold_sum set micro_dollars = micro_dollars + 7 where account = ${key}`,
      );
      await node().database.run((sql) => sql`insert into hold_sum values (${randomId()}, 3, 1, -5)`);
      expect(await node().holds.recount()).toBe(2);
      expect([await held(subject), await held(key)]).toMatchObject([{ microDollars: 0 }, { microDollars: 500 }]);
      expect(await wrongSums()).toEqual([]);
      expect(await node().holds.recount()).toBe(0);
    });
  });
}
