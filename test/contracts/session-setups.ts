import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { CallTickets } from '../../src/stores/call-tickets/contract.ts';
import type { SessionSetup, SessionSetups } from '../../src/stores/session-setups/contract.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import { DAY_BEGIN, nodesOf, voiceRecord, type Make } from './support.ts';

export interface SessionSetupsNode {
  readonly setups: SessionSetups;
  readonly history: VoiceHistory;
  readonly tickets: CallTickets;
}

const rich: Omit<SessionSetup, 'sessionId'> = {
  callMode: 'brokered',
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  instructions: 'Be “kind”.\n',
  tools: [{ kind: 'http_tool', name: 'find', url: 'https://x', nested: { deep: [1, null] } }],
  behaviour: { greeting: 'Hello, "you"', turns: { detect: 'silence', silenceMs: 400 }, extra: { a: [1, null] } },
  dataChannel: 'none',
  forbidsOverrides: true,
  price: { per1M: { textIn: 4_000_000 }, estimatePerMinute: 300_000 },
  sealedContext: 'AQ==',
  agentVersion: '4f1c0e8b7d2a',
  trace: null,
  metadata: { campaign: 'spring', 'Über "x"': '' },
  createdAtMs: DAY_BEGIN,
};

const bare: Omit<SessionSetup, 'sessionId'> = {
  callMode: 'direct',
  model: 'm',
  voice: 'v',
  instructions: null,
  tools: [],
  behaviour: null,
  dataChannel: 'open',
  forbidsOverrides: false,
  price: null,
  sealedContext: null,
  agentVersion: null,
  trace: null,
  metadata: null,
  createdAtMs: DAY_BEGIN + 1,
};

export function sessionSetupsContract(name: string, make: Make<SessionSetupsNode>): void {
  describe(`setups of sessions, ${name}`, () => {
    const node = nodesOf(make);

    /** Opens a session with a setup and, where given, the hash of a ticket. */
    async function opened(fields: Omit<SessionSetup, 'sessionId'>, hash?: string): Promise<SessionSetup> {
      const record = voiceRecord();
      const setup = { sessionId: record.id, ...fields };
      const ticket = hash === undefined ? undefined : { hash, sessionId: record.id, untilMs: DAY_BEGIN + 60_000 };
      await node().history.insert({ record, state: 'engaged', setup, ticket });
      return setup;
    }

    test.each([
      ['all that there is', rich],
      ['nothing that can be left out', bare],
    ])('with %s come back on the other node as they were saved', async (_what, fields) => {
      const setup = await opened(fields);
      expect(await node().setups.find(setup.sessionId)).toEqual(setup);
    });

    test('that are saved at the same time are all stored unchanged, with their tickets', async () => {
      const hashes = [randomId(), undefined, randomId(), undefined];
      const all = await Promise.all([rich, bare, rich, bare].map((fields, n) => opened(fields, hashes[n])));
      expect(await Promise.all(all.map(({ sessionId }) => node().setups.find(sessionId)))).toEqual(all);
      const owners = await Promise.all(hashes.map((hash) => node().tickets.find(hash ?? 'none', DAY_BEGIN)));
      expect(owners).toEqual(all.map(({ sessionId }, n) => (hashes[n] === undefined ? undefined : sessionId)));
    });

    test('keep instructions that end in half a character', async () => {
      const { sessionId } = await opened({ ...bare, instructions: 'Be kind \uD83D' });
      expect((await node().setups.find(sessionId))?.instructions).toBe('Be kind \uFFFD');
    });

    test('are undefined for a session without one', async () => {
      const record = voiceRecord();
      await node().history.insert({ record, state: 'engaged' });
      expect(await node().setups.find(record.id)).toBeUndefined();
    });

    test('are stored together with the record and the ticket, or not at all', async () => {
      const record = voiceRecord();
      const setup = { sessionId: record.id, ...rich, model: 'no text \u0000' };
      const ticket = { hash: randomId(), sessionId: record.id, untilMs: DAY_BEGIN + 60_000 };
      await expect(node().history.insert({ record, state: 'engaged', setup, ticket })).rejects.toThrow(
        'unsupported Unicode escape sequence',
      );
      expect([
        await node().history.find(record.id),
        await node().setups.find(record.id),
        await node().tickets.find(ticket.hash, DAY_BEGIN),
      ]).toEqual([undefined, undefined, undefined]);
    });

    test('are saved only once for a session', async () => {
      const record = voiceRecord();
      const setup = { sessionId: record.id, ...rich };
      await node().history.insert({ record, state: 'engaged', setup });
      await node().history.insert({ record, state: 'engaged', setup: { ...setup, voice: 'other' } });
      expect(await node().setups.find(setup.sessionId)).toEqual(setup);
    });
  });
}
