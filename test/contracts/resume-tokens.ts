import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { CallTicket, CallTickets, ResumeToken, ResumeTokens } from '../../src/stores/call-tickets/contract.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, voiceRecord, type Make } from './support.ts';

const UNTIL = DAY_BEGIN + 60_000;

interface ResumeTokensNode {
  readonly resumeTokens: ResumeTokens;
  readonly tickets: CallTickets;
  readonly history: VoiceHistory;
}

export function resumeTokensContract(name: string, make: Make<ResumeTokensNode>): void {
  describe(`resume tokens, ${name}`, () => {
    const node = nodesOf(make);

    async function opened(callMode: 'brokered' | 'direct' = 'brokered'): Promise<string> {
      const record = voiceRecord();
      const terms = {
        model: 'm',
        voice: 'v',
        instructions: null,
        tools: [],
        behaviour: null,
        forbidsOverrides: true,
        price: null,
        metadata: null,
        sealedContext: null,
        trace: null,
        agentVersion: null,
      };
      const setup = { sessionId: record.id, callMode, dataChannel: 'none', ...terms, createdAtMs: DAY_BEGIN } as const;
      await node().history.insert({ record, state: 'engaged', setup });
      return record.id;
    }

    async function given(sessionId?: string): Promise<ResumeToken> {
      const token = { hash: randomId(), sessionId: sessionId ?? (await opened()), untilMs: UNTIL };
      expect(await node().resumeTokens.replace(token)).toBe(true);
      return token;
    }

    const ticketOf = (sessionId: string): CallTicket => ({ hash: randomId(), sessionId, untilMs: UNTIL });
    const find = ({ hash }: ResumeToken, atMs = DAY_BEGIN) => node().resumeTokens.find(hash, atMs);

    test('give their session on every node and are spent once, for a ticket', async () => {
      const token = await given();
      expect([await find(token), await find(token)]).toEqual([token.sessionId, token.sessionId]);
      expect(await node().resumeTokens.has(token.sessionId, DAY_BEGIN)).toBe(true);
      expect(await node().resumeTokens.has(randomId(), DAY_BEGIN)).toBe(false);
      const [first, second] = [ticketOf(token.sessionId), ticketOf(token.sessionId)];
      expect(await node().resumeTokens.spend(token.hash, first, DAY_BEGIN)).toBe(true);
      expect(await node().resumeTokens.spend(token.hash, second, DAY_BEGIN)).toBe(false);
      expect(await find(token)).toBeUndefined();
      expect(await node().resumeTokens.has(token.sessionId, DAY_BEGIN)).toBe(false);
      const kept = await Promise.all([first, second].map(({ hash }) => node().tickets.find(hash, DAY_BEGIN)));
      expect(kept).toEqual([token.sessionId, undefined]);
    });

    test('replace only the previous token of the same session', async () => {
      const [former, other] = [await given(), await given()];
      const newer = await given(former.sessionId);
      expect([await find(former), await find(newer), await find(other)]).toEqual([
        undefined,
        former.sessionId,
        other.sessionId,
      ]);
    });

    test('that are made concurrently for one session leave only one', async () => {
      const sessionId = await opened();
      const tokens = await atOnce(RACERS, () => given(sessionId));
      const found = await Promise.all(tokens.map((token) => find(token)));
      expect(found.filter((id) => id !== undefined)).toEqual([sessionId]);
    });

    test(`are spent by one of ${RACERS} concurrent requests, for one ticket`, async () => {
      const { hash, sessionId } = await given();
      const tickets = Array.from({ length: RACERS }, () => ticketOf(sessionId));
      const won = await Promise.all(tickets.map((ticket) => node().resumeTokens.spend(hash, ticket, DAY_BEGIN)));
      const kept = await Promise.all(tickets.map((ticket) => node().tickets.find(ticket.hash, DAY_BEGIN)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(kept.map((id) => id !== undefined)).toEqual(won);
    });

    test('are worth nothing once they expire, nor for another session', async () => {
      const token = await given();
      const [own, others] = [ticketOf(token.sessionId), ticketOf(await opened())];
      expect([await find(token, UNTIL), await node().resumeTokens.has(token.sessionId, UNTIL)]).toEqual([
        undefined,
        false,
      ]);
      expect(await node().resumeTokens.spend(token.hash, own, UNTIL)).toBe(false);
      expect(await node().resumeTokens.spend(token.hash, others, DAY_BEGIN)).toBe(false);
      expect(await node().resumeTokens.spend(token.hash, own, UNTIL - 1)).toBe(true);
    });

    test('are not kept for sessions whose pages open their own calls, nor for unknown sessions', async () => {
      for (const sessionId of [await opened('direct'), randomId()]) {
        const token = { hash: randomId(), sessionId, untilMs: UNTIL };
        expect(await node().resumeTokens.replace(token)).toBe(false);
        expect(await find(token)).toBeUndefined();
      }
    });

    test('that are given back work once more, without the ticket, unless there is a newer token', async () => {
      const token = await given();
      const ticket = ticketOf(token.sessionId);
      await node().resumeTokens.spend(token.hash, ticket, DAY_BEGIN);
      await node().resumeTokens.giveBack(token, ticket.hash);
      expect([await find(token), await node().tickets.find(ticket.hash, DAY_BEGIN)]).toEqual([
        token.sessionId,
        undefined,
      ]);
      await node().resumeTokens.spend(token.hash, ticket, DAY_BEGIN);
      const newer = await given(token.sessionId);
      await node().resumeTokens.giveBack(token, ticket.hash);
      expect([await find(token), await find(newer)]).toEqual([undefined, token.sessionId]);
    });
  });
}
