import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { CallTickets } from '../../src/stores/call-tickets/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const UNTIL = DAY_BEGIN + 60_000;

export function callTicketsContract(name: string, make: Make<CallTickets>): void {
  describe(`tickets of calls, ${name}`, () => {
    const tickets = nodesOf(make);

    async function given(sessionId: string = randomId()): Promise<{ hash: string; sessionId: string }> {
      const hash = randomId();
      await tickets().insert({ hash, sessionId, untilMs: UNTIL });
      return { hash, sessionId };
    }

    test('give their session on every node any number of times, but are spent only once', async () => {
      const { hash, sessionId } = await given();
      expect([await tickets().find(hash, DAY_BEGIN), await tickets().find(hash, DAY_BEGIN)]).toEqual([
        sessionId,
        sessionId,
      ]);
      expect(await tickets().spend(hash, DAY_BEGIN)).toBe(sessionId);
      expect(await tickets().spend(hash, DAY_BEGIN)).toBeUndefined();
      expect(await tickets().find(hash, DAY_BEGIN)).toBeUndefined();
    });

    test('that are made at the same time each give their own session', async () => {
      const all = await Promise.all(Array.from({ length: RACERS }, () => given()));
      const told = await Promise.all(all.map(({ hash }) => tickets().find(hash, DAY_BEGIN)));
      expect(told).toEqual(all.map(({ sessionId }) => sessionId));
    });

    test('are valid until right before they expire, and not from then on', async () => {
      const { hash, sessionId } = await given();
      expect(await tickets().find(hash, UNTIL)).toBeUndefined();
      expect(await tickets().spend(hash, UNTIL)).toBeUndefined();
      expect(await tickets().find(hash, UNTIL - 1)).toBe(sessionId);
      expect(await tickets().spend(hash, UNTIL - 1)).toBe(sessionId);
    });

    test('that were never issued open nothing', async () => {
      const unknown = randomId();
      expect([await tickets().find(unknown, 0), await tickets().spend(unknown, 0)]).toEqual([undefined, undefined]);
    });

    test('of one session are independent of each other', async () => {
      const first = await given();
      const second = await given(first.sessionId);
      await tickets().spend(first.hash, DAY_BEGIN);
      expect(await tickets().spend(second.hash, DAY_BEGIN)).toBe(first.sessionId);
    });

    test(`are spent by one of ${RACERS} concurrent requests`, async () => {
      const { hash, sessionId } = await given();
      const answers = await atOnce(RACERS, () => tickets().spend(hash, DAY_BEGIN));
      expect(answers.filter((answer) => answer !== undefined)).toEqual([sessionId]);
    });

    test('are issued once', async () => {
      const { hash } = await given();
      await expect(tickets().insert({ hash, sessionId: 'other', untilMs: UNTIL })).rejects.toThrow('call_ticket_pkey');
    });
  });
}
