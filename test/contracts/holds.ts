import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Holds } from '../../src/stores/holds/contract.ts';
import type { Ledger, UsageTotals } from '../../src/stores/ledger/contract.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import type { VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import { usageOf } from './call-usage.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, RACERS, voiceRecord, type Make } from './support.ts';
import { call } from './voice-calls.ts';

const TODAY = '2030-01-01';
const HOUR_MS = 3_600_000;

export interface HoldsNode {
  readonly holds: Holds;
  readonly ledger: Ledger;
  readonly history: VoiceHistory;
  readonly calls: VoiceCalls;
}

export function holdsContract(name: string, make: Make<HoldsNode>): void {
  describe(`what open sessions hold back, ${name}`, () => {
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
      node().ledger.record({
        subject,
        day: TODAY,
        tokens,
        microDollars,
        atMs: at,
        tenantId: 'acme',
        sessionId: null,
        sessionAtMost: null,
        keyAccount: null,
        idempotency: null,
      });

    test('each holds what is wanted, the last what is left, and then nobody', async () => {
      const subject = randomId();
      await use(subject, 100);
      const answers = [];
      for (let n = 0; n < 3; n += 1) answers.push(await take(randomId(), [of(subject, 800)]));
      expect(answers).toEqual([true, true, false]);
      expect(await held(subject)).toEqual({ tokens: 0, microDollars: 700 });
      expect(await take(randomId(), [of(randomId(), 800)])).toBe(true);
    });

    test('one can always open while anything is left, and nobody once a ceiling is reached', async () => {
      const subject = randomId();
      await use(subject, 799, 10);
      expect(await take(randomId(), [of(subject, 800, 10)])).toBe(false);
      expect(await take(randomId(), [of(subject, 799, 11)])).toBe(false);
      expect(await take(randomId(), [of(subject, 800, 11)])).toBe(true);
      expect(await held(subject)).toEqual({ tokens: 0, microDollars: 1 });
    });

    test('of two accounts both are held, or neither', async () => {
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

    test('one’s own hold is none of others’', async () => {
      const subject = randomId();
      const [one, other] = [randomId(), randomId()];
      await take(one, [of(subject, 10_000)], { tokens: 3, microDollars: 30 });
      await take(other, [of(subject, 10_000)], { tokens: 4, microDollars: 40 });
      expect(await heldBy(subject, one)).toEqual({ tokens: 4, microDollars: 40 });
    });

    test('what the calls of a session have used is held no more for others to reckon with', async () => {
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
      // For whoever asks for a place it holds another minute.
      expect(await take(randomId(), [of(subject, 1100)])).toBe(false);
    });

    test('what was freed is free at once; a stranger frees nothing', async () => {
      const subject = randomId();
      const id = randomId();
      await take(id, [of(subject, 500)]);
      await node().holds.free(randomId());
      expect(await take(randomId(), [of(subject, 500)])).toBe(false);
      await node().holds.free(id);
      expect(await take(randomId(), [of(subject, 500)])).toBe(true);
    });

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

    test('lapses at its time, whatever became of its session', async () => {
      const subject = randomId();
      await take(randomId(), [of(subject, 500)]);
      expect((await held(subject, at + HOUR_MS - 1)).microDollars).toBe(500);
      expect((await held(subject, at + HOUR_MS)).microDollars).toBe(0);
    });

    test('of 64 that take at once of a subject and a key on two nodes never more is held than is there', async () => {
      const subjects = Array.from({ length: 4 }, () => randomId());
      const key = randomId();
      const admitted = await atOnce(RACERS, (n) =>
        take(randomId(), [of(subjects[n % 4] as string, 1200), of(key, 3250)]),
      );
      expect(admitted.filter(Boolean)).toHaveLength(7);
      expect((await held(key)).microDollars).toBe(3250);
      for (const subject of subjects) expect((await held(subject)).microDollars).toBeLessThanOrEqual(1200);
    });
  });
}
