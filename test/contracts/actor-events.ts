import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { ActorEvents, NewActorEvent } from '../../src/stores/actor-events/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

const moved: NewActorEvent = {
  machine: 'voice-session',
  actor: 's:someone:beginning',
  version: 3,
  atMs: DAY_BEGIN,
  kind: 'moved',
  event: 'CLOCK',
  from: 'engaged',
  to: 'idle',
  steps: [{ event: 'CLOCK', from: 'live.engaged', to: 'live.dormant', guard: 'hasGoneIdle', actions: ['followClock'] }],
  guards: [
    { name: 'isPastDuration', passed: false },
    { name: 'hasGoneIdle', passed: true },
  ],
  detail: { reason: null, lastSeenAtMs: DAY_BEGIN - 1, 'with "quotes" and ü': true },
  node: 'one',
  requestId: 'req_1',
};

export function actorEventsContract(name: string, make: Make<ActorEvents>): void {
  describe(`events of actors, ${name}`, () => {
    const events = nodesOf(make);

    test('come back as they were kept, the newest first, on every node', async () => {
      const actor = randomId();
      const ended: NewActorEvent = {
        ...moved,
        actor,
        kind: 'ended',
        event: 'END',
        from: 'idle',
        to: 'ended',
        steps: [],
      };
      await events().append([{ ...moved, actor }, ended]);
      const { events: kept, hasMore } = await events().of('voice-session', actor, undefined, 10);
      expect(kept).toEqual([
        { ...ended, ordinal: expect.any(Number) },
        { ...moved, actor, ordinal: expect.any(Number) },
      ]);
      expect(hasMore).toBe(false);
    });

    test('of an opening have no state before it and may have no request', async () => {
      const opened: NewActorEvent = { ...moved, actor: randomId(), kind: 'started', from: null, requestId: null };
      await events().append([opened]);
      expect((await events().of('voice-session', opened.actor, undefined, 1)).events).toMatchObject([opened]);
    });

    test('that are none of a machine have neither a version nor an event nor a state', async () => {
      const noted: NewActorEvent = {
        ...moved,
        actor: randomId(),
        version: null,
        kind: 'detached',
        event: null,
        from: null,
        to: null,
        steps: [],
        guards: [],
        detail: { code: 1006 },
        requestId: null,
      };
      await events().append([noted]);
      expect((await events().of('voice-session', noted.actor, undefined, 1)).events).toEqual([
        { ...noted, ordinal: expect.any(Number) },
      ]);
    });

    test('come in pages that neither repeat nor leave out any', async () => {
      const actor = randomId();
      await events().append(Array.from({ length: 7 }, (_, version) => ({ ...moved, actor, version })));
      const seen: (number | null)[] = [];
      let before: number | undefined;
      for (let hasMore = true; hasMore;) {
        const page = await events().of('voice-session', actor, before, 3);
        seen.push(...page.events.map(({ version }) => version));
        before = page.events.at(-1)?.ordinal;
        ({ hasMore } = page);
      }
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
    });

    test('of machines that name their actors alike do not mix', async () => {
      const actor = randomId();
      await events().append([
        { ...moved, actor },
        { ...moved, actor, machine: 'auth-session', kind: 'started' },
        { ...moved, actor, machine: 'voice-call', kind: 'stayed' },
        { ...moved, actor, machine: 'otp-challenge', kind: 'ended' },
      ]);
      const kinds = async (machine: NewActorEvent['machine']): Promise<string[]> =>
        (await events().of(machine, actor, undefined, 10)).events.map(({ kind }) => kind);
      expect(await kinds('voice-session')).toEqual(['moved']);
      expect(await kinds('voice-call')).toEqual(['stayed']);
      expect(await kinds('auth-session')).toEqual(['started']);
      expect(await kinds('otp-challenge')).toEqual(['ended']);
    });

    test('tell which actors a request did something to', async () => {
      const [requestId, one, other] = [randomId(), randomId(), randomId()];
      const asked = { ...moved, requestId };
      await events().append([
        { ...asked, actor: one },
        { ...asked, actor: other },
        { ...asked, actor: one, kind: 'ended' },
        { ...asked, actor: randomId(), machine: 'auth-session' },
      ]);
      expect(await events().actorsOf('voice-session', requestId, 5)).toEqual([one, other]);
      expect(await events().actorsOf('voice-session', requestId, 1)).toEqual([one]);
      expect(await events().actorsOf('voice-session', randomId(), 5)).toEqual([]);
    });

    test('that are none are kept without asking', async () => {
      await events().append([]);
      expect(await events().of('voice-session', randomId(), undefined, 10)).toEqual({ events: [], hasMore: false });
    });

    test('that were lost are told of for every span that they touch', async () => {
      const [fromMs, toMs] = [DAY_BEGIN + 1_000_000, DAY_BEGIN + 2_000_000];
      const lost = { node: randomId(), fromMs, toMs, count: 3 };
      await events().noteLost(lost);
      const within = async (from: number, to: number): Promise<boolean> =>
        (await events().lostWithin(from, to)).some(({ node }) => node === lost.node);
      expect((await events().lostWithin(fromMs, toMs)).find(({ node }) => node === lost.node)).toEqual(lost);
      expect(await within(toMs, toMs + 1)).toBe(true);
      expect(await within(fromMs - 1, fromMs)).toBe(true);
      expect(await within(toMs + 1, toMs + 2)).toBe(false);
      expect(await within(fromMs - 2, fromMs - 1)).toBe(false);
    });
  });
}
