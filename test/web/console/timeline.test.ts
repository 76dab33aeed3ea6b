import { describe, expect, test } from 'vitest';
import type { OperatorEvent } from '../../../src/protocol/operator/event.ts';
import { folded, stateAt } from '../../../src/web/console/data/timeline.ts';
import { noteWords } from '../../../src/web/console/labels/notes.ts';

function event(id: string, kind: OperatorEvent['kind'], to: string | null, minute = 0): OperatorEvent {
  return {
    id,
    at: new Date(minute * 60_000).toISOString(),
    kind,
    event: to === null ? null : 'CLOCK',
    from: null,
    to,
    steps: [],
    guards: [],
    record: { version: null, lastSeenAt: null, lastActivityAt: null, settledAt: null },
    detail: {},
    node: 'n',
    requestId: null,
  };
}

describe('The words for a session’s notes', () => {
  test.each([
    ['gap', { silentSec: 95 }, 'silent for 01:35'],
    ['attached', {}, 'socket attached'],
    ['detached', { code: 1006 }, 'socket closed 1006, cut off'],
    ['detached', { code: 4403 }, 'socket closed 4403'],
    ['warned', { limit: 'duration', secondsLeft: 60 }, 'warned: maximum length in 60 s'],
    ['warned', { limit: 'quota', secondsLeft: null }, 'warned: quota of the day is near'],
    ['warned', { limit: 'another', secondsLeft: 5 }, 'warned: another in 5 s'],
    ['usage', { tokens: 1204, dollars: 0.25 }, 'used 1,204 tokens, $0.25'],
  ] as const)('%s %j', (kind, detail, words) => {
    expect(noteWords({ kind, detail })).toBe(words);
  });

  test('do not cover the events of its machine', () => {
    expect(noteWords({ kind: 'moved', detail: {} })).toBeUndefined();
  });
});

/** The minutes of each silence, and the ids of the events of each other entry. */
function shown(events: readonly OperatorEvent[], at?: string) {
  return folded(events, at).map((entry) =>
    entry.kind === 'silence' ? entry.ms / 60_000 : [entry.event, ...entry.older].map(({ id }) => id).join(' '),
  );
}

describe('The timeline', () => {
  const events = [
    event('5', 'detached', null, 9),
    event('4', 'moved', 'idle', 8),
    event('3', 'usage', null, 2),
    event('2', 'started', 'engaged', 1),
    event('1', 'attached', null, 1),
  ];

  test('knows the state after an event that did not change it', () => {
    expect(['5', '4', '3', '2', '1', '0'].map((id) => stateAt(events, id))).toEqual([
      'idle',
      'idle',
      'engaged',
      'engaged',
      undefined,
      undefined,
    ]);
  });

  test('folds silence between events of any kind', () => {
    expect(shown(events)).toEqual(['5', '4', 6, '3', '2', '1']);
  });

  test('folds the tries to hang up a call to one entry, unless one of them is looked at or something else happened', () => {
    const tried = (id: string, call: string, minute: number): OperatorEvent => ({
      ...event(id, 'stayed', 'closing', minute),
      event: 'HANGUP_ANSWERED',
      detail: { call },
    });
    const all = [
      event('8', 'moved', 'closed', 20),
      tried('7', 'one', 15),
      tried('6', 'two', 14),
      tried('5', 'one', 13),
      tried('4', 'one', 12),
      event('3', 'usage', null, 12),
      tried('2', 'one', 11),
      tried('1', 'one', 11),
    ];
    expect(shown(all)).toEqual(['8', 5, '7 5 4', '6', '3', '2 1']);
    expect(shown(all, '5')).toEqual(['8', 5, '7', '6', '5', '4', '3', '2 1']);
  });
});
