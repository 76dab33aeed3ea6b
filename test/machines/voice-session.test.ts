import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import { createVoiceSessionMachine } from '../../machines/voice-session/machine.ts';
import {
  classify,
  durationSec,
  idleSec,
  nextDeadline,
  savedState,
  stateValue,
} from '../../machines/voice-session/selectors.ts';
import type { VoiceEvent, VoiceRecord, VoiceState } from '../../machines/voice-session/types.ts';
import {
  activity,
  clock,
  defaults,
  end,
  heard,
  heartbeat,
  leafOf,
  MINUTE,
  open,
  opened,
  play,
  requestedEnds,
  SECOND,
  spoke,
  terms,
} from './voice-session-support.ts';

/** Just after the last whole second that the limit allows. */
const IDLE = 301 * SECOND;
const STALE = 3601 * SECOND;
const ABANDONED = 7201 * SECOND;
const DURATION = 15 * MINUTE;

/** Heartbeats every 45 seconds up to a time, which keep the session from going idle before it. */
function beatUntil(at: number): VoiceEvent[] {
  return Array.from({ length: Math.floor(at / (45 * SECOND)) }, (_, n) => heartbeat((n + 1) * 45 * SECOND));
}

type Row = [title: string, events: VoiceEvent[], state: VoiceState, fields: Partial<VoiceRecord>, facts: string[]];

const engaged: Row[] = [
  ['is engaged at first', [], 'engaged', { version: 1 }, []],
  ['notes a heartbeat', [heartbeat(5)], 'engaged', { lastSeenAtMs: 5, lastActivityAtMs: 5, version: 2 }, []],
  [
    'takes the idle seconds that a heartbeat tells off its activity',
    [heartbeat(100_000, 30)],
    'engaged',
    { lastSeenAtMs: 100_000, lastActivityAtMs: 70_000 },
    [],
  ],
  [
    'never moves its activity backwards for a heartbeat',
    [heartbeat(50_000), heartbeat(100_000, 90)],
    'engaged',
    { lastSeenAtMs: 100_000, lastActivityAtMs: 50_000 },
    [],
  ],
  [
    'takes idle seconds from before its start as no activity at all',
    [heartbeat(50_000, Number.MAX_SAFE_INTEGER)],
    'engaged',
    { lastSeenAtMs: 50_000, lastActivityAtMs: 0 },
    [],
  ],
  [
    'counts activity that is no heartbeat as activity only',
    [activity(70_000)],
    'engaged',
    { lastSeenAtMs: 0, lastActivityAtMs: 70_000 },
    [],
  ],
  [
    'takes a heartbeat from a node whose clock is behind at the time it knows already',
    [heartbeat(70_000), heartbeat(69_000)],
    'engaged',
    { lastSeenAtMs: 70_000, lastActivityAtMs: 70_000, version: 3 },
    [],
  ],
  ['stays engaged while idleSec equals the limit', [clock(IDLE - 1)], 'engaged', { version: 1 }, []],
  ['goes idle one second after the limit', [clock(IDLE)], 'idle', { endedAtMs: null }, ['session.idle']],
  [
    'may still be heard in the last millisecond before it goes idle',
    [heartbeat(IDLE - 1), clock(IDLE)],
    'engaged',
    { lastActivityAtMs: IDLE - 1 },
    [],
  ],
  ['goes on up to the last instant of its duration', [...beatUntil(DURATION), clock(DURATION)], 'engaged', {}, []],
  [
    'is heard in the last instant of its duration',
    [...beatUntil(DURATION - 1), heartbeat(DURATION)],
    'engaged',
    { lastSeenAtMs: DURATION },
    [],
  ],
  [
    'ends right after its duration, at the end of its duration',
    [...beatUntil(DURATION), clock(DURATION + 400)],
    'ended',
    { endedAtMs: DURATION, endReason: 'duration_exceeded' },
    ['session.ended'],
  ],
  [
    'ends by its duration however active it is',
    [...beatUntil(DURATION), heartbeat(DURATION + 1)],
    'ended',
    { endedAtMs: DURATION, endReason: 'duration_exceeded', lastSeenAtMs: DURATION },
    ['session.ended'],
  ],
  [
    'ends when it is told to',
    [end(7, 'closed_by_client')],
    'ended',
    { endedAtMs: 7, settledAtMs: 7, endReason: 'closed_by_client' },
    ['session.ended'],
  ],
  [
    'that is told to end after its duration was over ended by its duration',
    [...beatUntil(DURATION), end(DURATION + 1)],
    'ended',
    { endedAtMs: DURATION, endReason: 'duration_exceeded' },
    ['session.ended'],
  ],
  [
    'is not ended before what it knows already by a node whose clock is behind',
    [heartbeat(9000), end(8000)],
    'ended',
    { endedAtMs: 9000 },
    ['session.ended'],
  ],
];

const quiet: Row[] = [
  [
    'that is idle ends with the next heartbeat',
    [clock(IDLE), heartbeat(IDLE + 1)],
    'ended',
    { endedAtMs: IDLE + 1, endReason: 'idle_exceeded', lastSeenAtMs: 0 },
    ['session.idle', 'session.ended'],
  ],
  [
    'that went idle unseen ends with the next heartbeat',
    [heartbeat(IDLE)],
    'ended',
    { endedAtMs: IDLE, endReason: 'idle_exceeded' },
    ['session.idle', 'session.ended'],
  ],
  [
    'that is idle is not woken up by activity',
    [clock(IDLE), activity(IDLE + 5)],
    'idle',
    { lastActivityAtMs: 0 },
    ['session.idle'],
  ],
  [
    'that went idle unseen is not woken up by activity',
    [activity(IDLE)],
    'idle',
    { lastActivityAtMs: 0 },
    ['session.idle'],
  ],
  [
    'that went idle is not ended by its duration',
    [clock(IDLE), clock(DURATION + 1)],
    'idle',
    { endedAtMs: null },
    ['session.idle'],
  ],
  [
    'that is idle can be ended',
    [clock(IDLE), end(IDLE + 9, 'closed_by_operator')],
    'ended',
    { endedAtMs: IDLE + 9, endReason: 'closed_by_operator' },
    ['session.idle', 'session.ended'],
  ],
  ['stays idle while idleSec equals the grace', [clock(IDLE), clock(STALE - 1)], 'idle', {}, ['session.idle']],
  [
    'goes stale one second after the grace',
    [clock(IDLE), clock(STALE)],
    'stale',
    {},
    ['session.idle', 'session.stale'],
  ],
  ['goes stale unseen by way of idle', [clock(STALE)], 'stale', { endedAtMs: null }, ['session.idle', 'session.stale']],
  [
    'that is idle meets activity in the state of its time',
    [clock(IDLE), activity(STALE)],
    'stale',
    {},
    ['session.idle', 'session.stale'],
  ],
  [
    'that is stale ends with the next heartbeat',
    [clock(STALE), heartbeat(STALE + 3)],
    'ended',
    { endedAtMs: STALE + 3, endReason: 'idle_exceeded' },
    ['session.idle', 'session.stale', 'session.ended'],
  ],
  [
    'that is stale can be ended',
    [clock(STALE), end(STALE + 3, 'key_revoked')],
    'ended',
    { endedAtMs: STALE + 3, endReason: 'key_revoked' },
    ['session.idle', 'session.stale', 'session.ended'],
  ],
  ['stays stale until it is given up', [clock(ABANDONED - 1)], 'stale', {}, ['session.idle', 'session.stale']],
  [
    'is given up when nobody came back',
    [clock(ABANDONED + 700)],
    'ended',
    { endedAtMs: ABANDONED, endReason: 'abandoned' },
    ['session.idle', 'session.stale', 'session.ended'],
  ],
  [
    'that was given up unseen keeps that end for a late heartbeat',
    [heartbeat(ABANDONED)],
    'ended',
    { endedAtMs: ABANDONED, endReason: 'abandoned', lastSeenAtMs: 0 },
    ['session.idle', 'session.stale', 'session.ended'],
  ],
];

const over: Row[] = [
  [
    'ends once, with its first reason and time',
    [end(5, 'quota_exceeded'), end(6, 'closed_by_client'), heartbeat(7), activity(8), clock(ABANDONED)],
    'ended',
    { endedAtMs: 5, endReason: 'quota_exceeded', lastSeenAtMs: 0, version: 2 },
    ['session.ended'],
  ],
];

/** Sessions whose visitor must speak within a minute. */
const ofNewVisitors: Row[] = [
  ['waits until words are due', [clock(MINUTE)], 'engaged', { wordsDueAtMs: MINUTE, version: 1 }, []],
  [
    'ends right after that without any, however often its page is heard',
    [heartbeat(30 * SECOND), heartbeat(59 * SECOND), clock(MINUTE + 1)],
    'ended',
    { endedAtMs: MINUTE, endReason: 'duration_exceeded', wordsDueAtMs: MINUTE },
    ['session.ended'],
  ],
  [
    'is not saved from that by activity, or by a call that is heard',
    [heard(0, 2 * MINUTE), activity(50 * SECOND), heartbeat(MINUTE + 1)],
    'ended',
    { endedAtMs: MINUTE, endReason: 'duration_exceeded' },
    ['session.ended'],
  ],
  [
    'goes on to its usual end once some are heard, also in the last instant',
    [spoke(MINUTE), ...beatUntil(DURATION), clock(DURATION)],
    'engaged',
    { wordsDueAtMs: 0, version: 22 },
    [],
  ],
  [
    'takes words once',
    [spoke(5), spoke(6)],
    'engaged',
    { wordsDueAtMs: 0, settledAtMs: 5, lastActivityAtMs: 0, version: 2 },
    [],
  ],
  [
    'takes words from a node whose clock is behind, or that tells of them late, at the time that it knows already',
    [heartbeat(9000), spoke(8000)],
    'engaged',
    { wordsDueAtMs: 0, settledAtMs: 9000 },
    [],
  ],
  [
    'is over for words that come after its end',
    [spoke(MINUTE + 1)],
    'ended',
    { endedAtMs: MINUTE, endReason: 'duration_exceeded' },
    ['session.ended'],
  ],
  ['can be ended before', [end(7)], 'ended', { endedAtMs: 7, wordsDueAtMs: MINUTE }, ['session.ended']],
];

describe('A session of a new visitor', () => {
  test.each(ofNewVisitors)('%s', (_title, events, state, fields, facts) => {
    const result = play(opened(0, 60), defaults, events);
    expect(result.state).toBe(state);
    expect(result.record).toMatchObject(fields);
    expect(result.facts.map(({ type }) => type)).toEqual(facts);
  });

  test('lasts no longer than others if words are due later', () => {
    const { record, facts } = play(opened(0, 3600), defaults, [...beatUntil(DURATION), clock(DURATION + 1)]);
    expect([record.endedAtMs, record.endReason, facts.length]).toEqual([DURATION, 'duration_exceeded', 1]);
  });

  test('that goes idle before words are due is not woken by them', () => {
    const { record, state } = play(opened(0, 600), defaults, [clock(IDLE), spoke(IDLE + 5)]);
    expect([state, record.wordsDueAtMs]).toEqual(['idle', 600 * SECOND]);
  });
});

describe('A voice session', () => {
  test.each([...engaged, ...quiet, ...over])('%s', (_title, events, state, fields, facts) => {
    const result = play(opened(), defaults, events);
    expect(result.state).toBe(state);
    expect(result.record).toMatchObject(fields);
    expect(result.facts.map(({ type }) => type)).toEqual(facts);
  });

  test.each(requestedEnds)('emits that it ended because of %s', (reason) => {
    expect(play(opened(), defaults, [end(5, reason)]).facts).toEqual([{ type: 'session.ended', reason }]);
  });

  test('counts whole seconds, and not beyond its end', () => {
    const { record } = play(opened(), defaults, [heartbeat(10_999), end(20_500)]);
    expect([durationSec(record, 99_000), idleSec(record, 99_000)]).toEqual([20, 9]);
    expect([durationSec(opened(5000), 4000), idleSec(opened(5000), 4000)]).toEqual([0, 0]);
  });

  test('whose limits were lowered while it was not looked at still ends once, with a reason', () => {
    const { record } = play(opened(), defaults, beatUntil(10 * MINUTE));
    const lowered = { ...defaults, maxMinutes: 5 };
    expect([classify(record, record.settledAtMs, lowered), savedState(record, lowered)]).toEqual(['ended', 'engaged']);
    expect(nextDeadline(record, lowered)).toBe(5 * MINUTE + 1);
    const { record: after, facts } = play(record, lowered, [clock(11 * MINUTE), clock(12 * MINUTE)]);
    expect(after).toMatchObject({ endedAtMs: 5 * MINUTE, endReason: 'duration_exceeded' });
    expect(facts).toEqual([{ type: 'session.ended', reason: 'duration_exceeded' }]);
  });

  test('that is stale when the reaping time is lowered is abandoned by the clock', () => {
    const { record } = play(opened(), defaults, [clock(STALE + 600 * SECOND)]);
    const lowered = { ...defaults, staleReapSec: 60 };
    expect(play(record, lowered, [clock(STALE + 601 * SECOND)]).facts).toEqual([
      { type: 'session.ended', reason: 'abandoned' },
    ]);
  });
});

describe('The machine', () => {
  // A duration short enough for one heartbeat to keep the session alive throughout.
  const limits = { ...defaults, maxMinutes: 6 };
  const times = [100 * SECOND, IDLE - 1, IDLE, 6 * MINUTE, 6 * MINUTE + 1, STALE, ABANDONED];
  const machine = createVoiceSessionMachine(limits);
  const paths = getShortestPaths(machine, {
    events: [open(0), ...times.flatMap((at) => [heartbeat(at), activity(at), spoke(at), clock(at), end(at)])],
    limit: 4000,
    serializeState: ({ value, context }) => JSON.stringify([value, { ...context, version: 0 }]),
  });
  /** Without the first path, which is the machine before it is opened. */
  const ways = paths.slice(1).map(({ state }) => state);

  test('is opened only by OPEN', () => {
    const [before] = initialTransition(machine);
    for (const event of [heartbeat(0), activity(0), clock(ABANDONED), end(0)])
      expect(transition(machine, before, event)[0].value).toBe('unopened');
  });

  test('opens a session with its terms, engaged, at the time of the event', () => {
    const [{ value, context }] = transition(machine, initialTransition(machine)[0], open(7));
    expect(leafOf(value)).toBe('engaged');
    const times = { startedAtMs: 7, lastSeenAtMs: 7, lastActivityAtMs: 7, settledAtMs: 7 };
    expect(context).toEqual({
      ...terms,
      ...times,
      heardUntilMs: 0,
      wordsDueAtMs: 0,
      endedAtMs: null,
      endReason: null,
      version: 1,
    });
  });

  test('opens a session once: a live or ended session is not opened again', () => {
    const live = play(opened(), defaults, [heartbeat(5), open(6)]);
    expect([live.record, live.facts]).toEqual([play(opened(), defaults, [heartbeat(5)]).record, []]);
    expect(play(opened(), defaults, [end(5), open(6)]).record).toMatchObject({ endedAtMs: 5, startedAtMs: 0 });
  });

  test('reaches every state, and every end that is the clock’s', () => {
    expect(new Set(ways.map(({ value }) => leafOf(value)))).toEqual(new Set(['engaged', 'idle', 'stale', 'ended']));
    expect(new Set(ways.map(({ context }) => context.endReason))).toEqual(
      new Set([null, 'closed_by_client', 'duration_exceeded', 'idle_exceeded', 'abandoned']),
    );
  });

  test('is, on every path, in the state of the hierarchy that the record says', () => {
    for (const { value, context } of ways) {
      expect(value).toEqual(stateValue(context, limits));
      expect(leafOf(value)).toBe(savedState(context, limits));
    }
  });

  test('is pure: the same event in the same state gives the same result', () => {
    const snapshot = machine.resolveState({ value: { live: 'engaged' }, context: opened() });
    const [first, second] = [transition(machine, snapshot, clock(STALE)), transition(machine, snapshot, clock(STALE))];
    expect(first[0].context).toEqual(second[0].context);
    expect(snapshot.context).toEqual(opened());
  });
});
