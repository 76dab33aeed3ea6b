import { describe, expect, it, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { Bus } from '../../src/stores/bus/contract.ts';
import { createInProcessBus, createInProcessStores } from '../../src/stores/in-process.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import { dueAt } from '../../src/sessions/deadlines.ts';
import type { TestApp } from '../support/app.ts';
import { ManualClock, SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';
import { attached } from './client.ts';

const { build, database } = useApps();
const limits = { maxMinutes: 1440, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 };
const env = { MAX_SESSION_MINUTES: '1440' };

/** The bus of a node that hears no other node; the test reports its gaps. */
function deafBus() {
  const bus = createInProcessBus();
  const listeners: (() => void)[] = [];
  return {
    isConnected: true,
    publish: (message: Parameters<Bus['publish']>[0]) => bus.publish(message),
    subscribe: (listener: Parameters<Bus['subscribe']>[0]) => bus.subscribe(listener),
    onGap(listener: () => void) {
      listeners.push(listener);
      return () => undefined;
    },
    tellGap: () => listeners.forEach((listener) => listener()),
  };
}

/** Two nodes on one registry; the first hears nothing from the second. */
async function twoNodes(changes: Partial<LiveStores> = {}) {
  const clock = new ManualClock();
  const shared = createInProcessStores(dueAt(limits), clock, () => undefined);
  const bus = deafBus();
  const deaf = await build({ clock, env, live: { ...shared, ...changes, bus } });
  const other = await build({ clock, env, live: shared });
  deaf.service.hub.tick();
  return { clock, bus, deaf, other, shared };
}

const tick = ({ service }: TestApp): void => service.hub.tick();
/** Waits long enough for any look-up that was due to finish. */
const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
};

describe('a socket whose node missed what the bus said', () => {
  it('is told of an end when the bus tells of the gap', async () => {
    const { clock, bus, deaf, other } = await twoNodes();
    const key = await other.key();
    const [ended, engaged] = [await other.open(key), await other.open(key)];
    const sockets = [ended, engaged].map((id) => attached(deaf, id));
    await other.sessions.end(ended, 'closed_by_operator', clock.now());
    clock.advance(2 * SECOND);
    tick(deaf);
    await settle();
    expect(sockets.map((socket) => socket.heard())).toEqual([[], []]);
    bus.tellGap();
    tick(deaf);
    await expect.poll(() => sockets[0]?.closeCode).toBe(4403);
    expect(sockets[0]?.heard()).toMatchObject([{ type: 'ended', reason: 'closed_by_operator' }]);
    expect(sockets[1]?.heard()).toEqual([]);
  });

  it('is told of a transition once, and of nothing that it knows already', async () => {
    const { clock, bus, deaf, other } = await twoNodes();
    const id = await other.open(await other.key());
    const [one, two] = [attached(deaf, id), attached(deaf, id)];
    for (let looks = 0; looks < 3; looks += 1) {
      clock.advance(2 * SECOND);
      bus.tellGap();
      tick(deaf);
      await settle();
    }
    expect([one.heard(), two.heard()]).toEqual([[], []]);
    clock.advance(300 * SECOND);
    await other.sweep();
    tick(deaf);
    expect(await one.hear()).toEqual({ type: 'state', state: 'idle' });
    for (let looks = 0; looks < 3; looks += 1) {
      clock.advance(2 * SECOND);
      bus.tellGap();
      tick(deaf);
      await settle();
    }
    expect([one.heard(), two.heard()]).toEqual([[], [{ type: 'state', state: 'idle' }]]);
  });

  it('is told every few seconds what happens while the bus is away', async () => {
    const { clock, bus, deaf, other } = await twoNodes();
    const key = await other.key();
    bus.isConnected = false;
    for (const reason of ['closed_by_operator', 'quota_exceeded', 'key_revoked'] as const) {
      const id = await other.open(key);
      const socket = attached(deaf, id);
      await other.sessions.end(id, reason, clock.now());
      await expect
        .poll(() => {
          clock.advance(SECOND);
          tick(deaf);
          return socket.closeCode;
        })
        .toBe(4403);
      expect(socket.heard()).toMatchObject([{ type: 'ended', reason }]);
    }
  });

  it('is told by a node that notices that it stood still', async () => {
    const { clock, deaf, other } = await twoNodes();
    const id = await other.open(await other.key());
    const socket = attached(deaf, id);
    await other.sessions.end(id, 'key_revoked', clock.now());
    clock.advance(SECOND);
    tick(deaf);
    await settle();
    expect(socket.heard()).toEqual([]);
    clock.advance(20 * SECOND);
    tick(deaf);
    await expect.poll(() => socket.closeCode).toBe(4403);
  });

  it('is told from the history while the registry is away, and its session is looked up again until both have answered', async () => {
    const clock = new ManualClock();
    const shared = createInProcessStores(dueAt(limits), clock, () => undefined);
    const state = { isAway: false };
    const load: LiveStores['registry']['load'] = (id) =>
      state.isAway ? Promise.reject(new Unavailable('registry')) : shared.registry.load(id);
    const bus = deafBus();
    const deaf = await build({ clock, env, live: { ...shared, registry: { ...shared.registry, load }, bus } });
    const other = await build({ clock, env, live: shared });
    tick(deaf);
    const key = await other.key();
    const [first, second, third] = [await other.open(key), await other.open(key), await other.open(key)];
    const sockets = [first, second, third].map((id) => attached(deaf, id));
    /** Ticks until this many sockets have been told that the session is over, and lets the look-up that told the last one finish. */
    const untilTold = async (count: number): Promise<void> => {
      const told = (): number => sockets.filter(({ closeCode }) => closeCode === 4403).length;
      await expect
        .poll(() => {
          clock.advance(2 * SECOND);
          tick(deaf);
          return told();
        })
        .toBe(count);
      await settle();
    };

    state.isAway = true;
    await other.sessions.end(first, 'closed_by_operator', clock.now());
    bus.tellGap();
    await untilTold(1);

    // The database has answered but the registry has not, so it looks again without another gap.
    await other.sessions.end(second, 'closed_by_operator', clock.now());
    await untilTold(2);
    state.isAway = false;

    database().isAway = true;
    await other.sessions.end(third, 'closed_by_operator', clock.now());
    await untilTold(3);
  });

  it('is not told an old state that a look-up returns after a newer one was heard', async () => {
    const clock = new ManualClock();
    const shared = createInProcessStores(dueAt(limits), clock, () => undefined);
    const bus = deafBus();
    let answer: (() => void) | undefined;
    let isSlow = false;
    const load: LiveStores['registry']['load'] = (id) => {
      const record = shared.registry.load(id);
      if (!isSlow) return record;
      return new Promise((resolve) => {
        answer = () => resolve(record);
      });
    };
    const deaf = await build({ clock, env, live: { ...shared, registry: { ...shared.registry, load }, bus } });
    tick(deaf);
    const id = await deaf.open(await deaf.key());
    const socket = attached(deaf, id);
    isSlow = true;
    clock.advance(2 * SECOND);
    bus.tellGap();
    tick(deaf);
    await vi.waitUntil(() => answer !== undefined);
    bus.publish({ type: 'session.moved', sessionId: id, state: 'idle', endReason: null });
    answer?.();
    await settle();
    expect(socket.heard()).toEqual([{ type: 'state', state: 'idle' }]);
  });
});
