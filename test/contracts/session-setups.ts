import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { SessionSetup, SessionSetups } from '../../src/stores/session-setups/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

const rich: Omit<SessionSetup, 'sessionId'> = {
  callMode: 'brokered',
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  instructions: 'Be “kind”.\n',
  tools: [{ kind: 'http_tool', name: 'find', url: 'https://x', nested: { deep: [1, null] } }],
  dataChannel: 'none',
  isLocked: true,
  price: { per1M: { textIn: 4_000_000 }, estimatePerMinute: 300_000 },
  metadata: { campaign: 'spring', 'Über "x"': '' },
  createdAtMs: DAY_BEGIN,
};

const bare: Omit<SessionSetup, 'sessionId'> = {
  callMode: 'direct',
  model: 'm',
  voice: 'v',
  instructions: null,
  tools: [],
  dataChannel: 'open',
  isLocked: false,
  price: null,
  metadata: null,
  createdAtMs: DAY_BEGIN + 1,
};

export function sessionSetupsContract(name: string, make: Make<SessionSetups>): void {
  describe(`setups of sessions, ${name}`, () => {
    const setups = nodesOf(make);

    test.each([
      ['all that there is', rich],
      ['nothing that can be left out', bare],
    ])('with %s come back on the other node as they were saved', async (_what, fields) => {
      const setup = { sessionId: randomId(), ...fields };
      await setups().insert(setup);
      expect(await setups().find(setup.sessionId)).toEqual(setup);
    });

    test('that are saved at once are each as they were saved', async () => {
      const all = [rich, bare, rich, bare].map((fields) => ({ sessionId: randomId(), ...fields }));
      await Promise.all(all.map((setup) => setups().insert(setup)));
      expect(await Promise.all(all.map(({ sessionId }) => setups().find(sessionId)))).toEqual(all);
    });

    test('keep instructions that end in half a character, which nobody can read', async () => {
      const setup = { sessionId: randomId(), ...bare, instructions: 'Be kind \uD83D' };
      await setups().insert(setup);
      expect((await setups().find(setup.sessionId))?.instructions).toBe('Be kind \uFFFD');
    });

    test('of a session that has none are undefined', async () => {
      expect(await setups().find(randomId())).toBeUndefined();
    });

    test('are saved once for a session', async () => {
      const setup = { sessionId: randomId(), ...rich };
      await setups().insert(setup);
      await expect(setups().insert({ ...setup, voice: 'other' })).rejects.toThrow('session_setup_pkey');
      expect(await setups().find(setup.sessionId)).toEqual(setup);
    });
  });
}
