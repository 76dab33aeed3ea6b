import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { classify, idleAtMs } from '../../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { benefitMs, historyWindowMs, withBenefit } from '../../../../src/sessions/history-writer.ts';
import { restoreLost } from '../../../../src/sessions/recovery/restore.ts';
import { closeDue } from '../../../../src/sessions/recovery/sweep.ts';
import { clock, defaults, opened, play } from '../../../machines/voice-session-support.ts';
import { MINUTE, NOON, SECOND } from '../../../support/clock.ts';
import { examples } from '../../../support/examples.ts';
import { RecoveryNode } from './support.ts';

const session = opened(NOON);
const anybody = (): boolean => true;
const WINDOW_MS = historyWindowMs(defaults);

let node: RecoveryNode;
beforeEach(async () => {
  node = new RecoveryNode();
  await node.hold(session);
});

const beat = async (on = node, idleSec?: number): Promise<VoiceRecord | undefined> =>
  (await on.sessions.heartbeat(session.id, on.clock.now(), idleSec, anybody))?.record;

const flush = (): Promise<void> => node.sessions.recovery.writer.flush();
const sweep = (on = node): Promise<number> => closeDue(on.clock.now(), 500, 1500, on.sessions.recovery);
const row = (): VoiceRecord => node.history.rows.get(session.id) as VoiceRecord;
const held = (on = node): VoiceRecord => on.seen(session).held as VoiceRecord;

/** Another process on the same history, after everything in the first one's memory is lost. */
async function afterLoss(): Promise<RecoveryNode> {
  const next = new RecoveryNode(node);
  await restoreLost(next.sessions.recovery);
  return next;
}

describe('The history', () => {
  test.each([
    [1, 60],
    [240, 60],
    [300, 75],
    [86_400, 21_600],
  ])('of sessions that go idle after %i s gets one heartbeat each %i s', (maxIdleSec, windowSec) => {
    expect(historyWindowMs({ ...defaults, maxIdleSec })).toBe(windowSec * SECOND);
  });

  test('gets 11 of the 19 heartbeats of a whole session, and its end', async () => {
    for (let beats = 0; beats < 19; beats += 1) {
      node.clock.advance(45 * SECOND);
      await beat();
      await flush();
    }
    expect(node.history.saved).toBe(11);
    node.clock.advance(MINUTE);
    await sweep();
    expect(node.history.saved).toBe(12);
  });

  test('gets no more of a session whose client beats every second', async () => {
    for (let beats = 0; beats < 899; beats += 1) {
      node.clock.advance(SECOND);
      await beat();
      await flush();
    }
    expect(node.history.saved).toBe(11);
  });

  test('hears of a client that stays and is quiet as often, with the time at which it was seen', async () => {
    for (let beats = 1; beats <= 6; beats += 1) {
      node.clock.advance(45 * SECOND);
      await beat(node, beats * 45);
      await flush();
    }
    expect(node.history.saved).toBe(3);
    expect(node.clock.now() - row().lastSeenAtMs).toBeLessThan(WINDOW_MS);
  });

  test('is told at once that no call is heard any more', async () => {
    await node.sessions.noteHeard(session.id, NOON + SECOND, NOON + MINUTE);
    await flush();
    expect(node.history.saved).toBe(0);
    await node.sessions.noteHeard(session.id, NOON + 2 * SECOND, NOON + 2 * SECOND);
    await flush();
    expect(row().heardUntilMs).toBe(NOON + 2 * SECOND);
  });

  test('gets the newest heartbeat of those that came while it was away', async () => {
    node.history.isAway = true;
    node.clock.advance(WINDOW_MS);
    await beat();
    await flush().catch(() => undefined);
    node.clock.advance(SECOND);
    await beat();
    node.history.isAway = false;
    await flush();
    expect(row().lastSeenAtMs).toBe(node.clock.now());
  });

  test('has the last heartbeat of a session that went idle, and dates idleness and end by it', async () => {
    for (const sec of [45, 45, 40]) {
      node.clock.advance(sec * SECOND);
      await beat();
      await flush();
    }
    const lastMs = node.clock.now();
    expect(row().lastSeenAtMs).toBe(lastMs - 40 * SECOND);
    node.clock.set(lastMs + 301 * SECOND - 1);
    expect(await sweep()).toBe(0);
    node.clock.set(lastMs + 301 * SECOND);
    expect(await sweep()).toBe(1);
    expect(row()).toEqual(held());
    expect(row()).toMatchObject({ lastSeenAtMs: lastMs, lastActivityAtMs: lastMs, settledAtMs: lastMs + 301 * SECOND });
    node.clock.set(lastMs + 7201 * SECOND + 700);
    await sweep();
    expect(row()).toMatchObject({ endedAtMs: lastMs + 7201 * SECOND, endReason: 'abandoned', lastSeenAtMs: lastMs });
  });
});

type Deed = 'beat' | 'quiet' | 'activity' | 'heard' | 'unheard' | 'flush' | 'flush fails';
const deeds = fc.array(
  fc.record({
    deed: fc.constantFrom<Deed>('beat', 'quiet', 'activity', 'heard', 'unheard', 'flush', 'flush fails'),
    afterSec: fc.integer({ min: 0, max: 120 }),
  }),
  { maxLength: 25 },
);

async function act(deed: Deed): Promise<void> {
  const { sessions, clock: time, history } = node;
  const at = time.now();
  if (deed === 'beat') await beat();
  if (deed === 'quiet') await beat(node, 50);
  if (deed === 'activity') await sessions.noteActivity(session.id, at);
  if (deed === 'heard') await sessions.noteHeard(session.id, at, at + MINUTE);
  if (deed === 'unheard') await sessions.noteHeard(session.id, at, at);
  history.isAway = deed === 'flush fails';
  if (deed.startsWith('flush')) await flush().catch(() => undefined);
  history.isAway = false;
  await sweep();
}

describe('After all that is live was lost', () => {
  test('no session is ended or idle that would live had nothing been lost, whatever was heard of it', async () => {
    const holds = fc.asyncProperty(deeds, fc.integer({ min: 0, max: 300 }), async (done, silentSec) => {
      node = new RecoveryNode();
      await node.hold(session);
      for (const { deed, afterSec } of done) {
        node.clock.advance(afterSec * SECOND);
        await act(deed);
      }
      await flush();
      const truth = node.seen(session).held;
      const at = node.clock.now() + silentSec * SECOND;
      fc.pre(truth !== undefined && classify(truth, at, defaults) === 'engaged');
      expect(truth.lastActivityAtMs - row().lastActivityAtMs).toBeLessThan(WINDOW_MS);
      node.clock.set(at);
      const next = await afterLoss();
      await sweep(next);
      expect(idleAtMs(held(next), defaults)).toBeGreaterThanOrEqual(idleAtMs(truth, defaults));
      expect((await beat(next))?.endedAtMs).toBeNull();
    });
    await fc.assert(holds, examples(300));
  });

  test('nor is one whose last heartbeat died with its process before it was written', async () => {
    for (const sec of [80, 44, 45]) {
      await flush();
      node.clock.advance(sec * SECOND);
      await beat();
    }
    expect(held().lastActivityAtMs - row().lastActivityAtMs).toBeGreaterThan(WINDOW_MS);
    node.clock.advance(300 * SECOND);
    expect((await beat(await afterLoss()))?.endedAtMs).toBeNull();
  });

  test('twice, the second loss takes no more than the first: the first heartbeat after one is written', async () => {
    node.clock.advance(WINDOW_MS);
    await beat();
    await flush();
    node = await afterLoss();
    node.clock.advance(SECOND);
    await beat();
    await flush();
    expect(row().lastSeenAtMs).toBe(node.clock.now());
  });

  test('a session that was silent ends later by the benefit at most, and its last heartbeat is the one that is known', async () => {
    node.clock.advance(299 * SECOND);
    const next = await afterLoss();
    expect(held(next)).toMatchObject({ lastSeenAtMs: NOON, lastActivityAtMs: NOON + benefitMs(defaults) });
    next.clock.set(NOON + benefitMs(defaults) + 301 * SECOND);
    await sweep(next);
    expect(classify(held(next), next.clock.now(), defaults)).toBe('idle');
  });

  test('what is over all the same is dated by the last heartbeat that is known', async () => {
    node.clock.advance(200 * MINUTE);
    const next = await afterLoss();
    await sweep(next);
    expect(held(next)).toMatchObject({ endedAtMs: NOON + 7201 * SECOND, endReason: 'abandoned' });
  });

  test('no silence is told of the time that the history does not know, and every one afterwards', async () => {
    node.clock.advance(WINDOW_MS);
    await beat();
    await flush();
    node.clock.advance(45 * SECOND);
    await beat();
    const next = await afterLoss();
    next.clock.advance(50 * SECOND);
    await beat(next);
    next.clock.advance(91 * SECOND);
    await beat(next);
    expect([node.silences, next.silences]).toEqual([[], [91]]);
  });
});

describe('While the live stores are away', () => {
  test('a session whose last heartbeats the history does not have goes on', async () => {
    for (const sec of [80, 44, 20]) {
      node.clock.advance(sec * SECOND);
      await beat();
      await flush();
    }
    node.refused = 'everything';
    node.clock.advance(299 * SECOND);
    expect(row().lastActivityAtMs + 301 * SECOND).toBeLessThan(node.clock.now());
    expect((await beat())?.endedAtMs).toBeNull();
    expect(row()).toMatchObject({ endedAtMs: null, lastSeenAtMs: node.clock.now() });
  });
});

describe('A record of the history', () => {
  test.each([
    ['idle', play(session, defaults, [clock(NOON + 301 * SECOND)]).record],
    ['ended', play(session, defaults, [clock(NOON + 7201 * SECOND)]).record],
  ])('of a session that is %s is exact, and gets no benefit', (_state, record) => {
    expect(withBenefit(record, NOON + 302 * SECOND, defaults)).toBe(record);
  });

  test('is never taken for active later than now, nor earlier than it says', () => {
    expect(withBenefit(session, NOON + 10, defaults).lastActivityAtMs).toBe(NOON + 10);
    expect(withBenefit(session, NOON - 10, defaults).lastActivityAtMs).toBe(NOON);
  });
});

describe('A silence', () => {
  test('is told once, to the second, whatever the history has of it', async () => {
    for (const sec of [45, 90, 91, 45]) {
      node.clock.advance(sec * SECOND);
      await beat();
    }
    expect(node.silences).toEqual([91]);
  });
});
