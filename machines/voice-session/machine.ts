import { assertEvent, assign, emit, raise, setup } from 'xstate';
import type { EndReason } from './end-reasons.ts';
import {
  abandonedAtMs,
  activityAtMs,
  durationEndMs,
  endsByDuration,
  idleAtMs,
  nextDeadline,
  openedRecord,
  staleAtMs,
} from './selectors.ts';
import type { VoiceEvent, VoiceFact, VoiceLimits, VoiceRecord } from './types.ts';

/** The time of an event, but never before what the record has settled, because nodes' clocks differ. */
function timeOf({ context, event }: { readonly context: VoiceRecord; readonly event: VoiceEvent }): number {
  return Math.max(event.at, context.settledAtMs);
}

/** The end of a record. It ends once: later events find the machine in its final state. */
function endOf(record: VoiceRecord, endedAtMs: number, endReason: EndReason): Partial<VoiceRecord> {
  const settledAtMs = Math.max(endedAtMs, record.settledAtMs);
  return { settledAtMs, endedAtMs, endReason, version: record.version + 1 };
}

/**
 * The rules of a voice session (docs/contract.md, sections 5.4 and 10.3). OPEN makes its record, which is the machine's context; a live one is
 * engaged, then dormant (idle, then stale), and ends once. It reads no clock: each event carries its time. If an event comes after a deadline, the
 * machine first follows the clock, then handles the event in the state that holds at its time.
 */
export function createVoiceSessionMachine(limits: VoiceLimits) {
  return setup({
    types: {
      context: {} as VoiceRecord,
      events: {} as VoiceEvent,
      emitted: {} as VoiceFact,
    },
    guards: {
      isAfterDeadline: ({ context, event }) => event.at >= nextDeadline(context, limits),
      areWordsDue: ({ context, event }) => context.wordsDueAtMs > 0 && event.at < nextDeadline(context, limits),
      isBeforeDeadline: ({ context, event }) => event.at < nextDeadline(context, limits),
      isPastDuration: ({ context }) =>
        endsByDuration(context, limits) && context.settledAtMs > durationEndMs(context, limits),
      hasGoneIdle: ({ context }) => context.settledAtMs >= idleAtMs(context, limits),
      hasGoneStale: ({ context }) => context.settledAtMs >= staleAtMs(context, limits),
      isAbandoned: ({ context }) => context.settledAtMs >= abandonedAtMs(context, limits),
    },
    actions: {
      open: assign(({ event }) => {
        assertEvent(event, 'OPEN');
        return openedRecord(event.terms, event.at, event.wordsWithinSec);
      }),
      followClock: assign(({ context, event }) => ({
        settledAtMs: timeOf({ context, event }),
        version: context.version + 1,
      })),
      meetAgain: raise(({ event }) => event),
      // The fast paths in selectors.ts do the same to the record as these three.
      noteHeartbeat: assign(({ context, event }) => {
        assertEvent(event, 'HEARTBEAT');
        const seenAtMs = timeOf({ context, event });
        return {
          lastSeenAtMs: seenAtMs,
          lastActivityAtMs: activityAtMs(context, seenAtMs, event.idleSec ?? 0),
          settledAtMs: seenAtMs,
          version: context.version + 1,
        };
      }),
      noteActivity: assign(({ context, event }) => ({
        lastActivityAtMs: timeOf({ context, event }),
        settledAtMs: timeOf({ context, event }),
        version: context.version + 1,
      })),
      noteHeard: assign(({ context, event }) => {
        assertEvent(event, 'HEARD');
        return {
          heardUntilMs: event.untilMs,
          settledAtMs: timeOf({ context, event }),
          version: context.version + 1,
        };
      }),
      noteWords: assign(({ context, event }) => ({
        wordsDueAtMs: 0,
        settledAtMs: timeOf({ context, event }),
        version: context.version + 1,
      })),
      endByDuration: assign(({ context }) => endOf(context, durationEndMs(context, limits), 'duration_exceeded')),
      endAsAbandoned: assign(({ context }) => endOf(context, abandonedAtMs(context, limits), 'abandoned')),
      endAsIdle: assign(({ context, event }) => endOf(context, timeOf({ context, event }), 'idle_exceeded')),
      endAsRequested: assign(({ context, event }) => {
        assertEvent(event, 'END');
        return endOf(context, timeOf({ context, event }), event.reason);
      }),
      tellIdle: emit({ type: 'session.idle' }),
      tellStale: emit({ type: 'session.stale' }),
      tellEnded: emit(({ context }) => ({ type: 'session.ended', reason: context.endReason ?? 'abandoned' })),
    },
  }).createMachine({
    id: 'voice-session',
    // There is no record until OPEN makes it.
    context: {} as VoiceRecord,
    initial: 'unopened',
    states: {
      unopened: {
        on: { OPEN: { target: 'live', actions: 'open' } },
      },
      live: {
        initial: 'engaged',
        on: {
          END: { guard: 'isBeforeDeadline', target: 'ended', actions: 'endAsRequested' },
          CLOCK: { guard: 'isAfterDeadline', actions: 'followClock' },
          // Events that the states below cannot take in time: the machine follows the clock first, then handles the event again.
          '*': { guard: 'isAfterDeadline', actions: ['followClock', 'meetAgain'] },
        },
        states: {
          engaged: {
            always: [
              { guard: 'isPastDuration', target: '#ended', actions: 'endByDuration' },
              { guard: 'hasGoneIdle', target: 'dormant' },
            ],
            on: {
              HEARTBEAT: { guard: 'isBeforeDeadline', actions: 'noteHeartbeat' },
              ACTIVITY: { guard: 'isBeforeDeadline', actions: 'noteActivity' },
              HEARD: { guard: 'isBeforeDeadline', actions: 'noteHeard' },
              SPOKE: { guard: 'areWordsDue', actions: 'noteWords' },
            },
          },
          dormant: {
            initial: 'idle',
            // Activity does not end dormancy.
            on: { HEARTBEAT: { guard: 'isBeforeDeadline', target: '#ended', actions: 'endAsIdle' } },
            states: {
              idle: { entry: 'tellIdle', always: { guard: 'hasGoneStale', target: 'stale' } },
              stale: {
                entry: 'tellStale',
                always: { guard: 'isAbandoned', target: '#ended', actions: 'endAsAbandoned' },
              },
            },
          },
        },
      },
      ended: { id: 'ended', type: 'final', entry: 'tellEnded' },
    },
  });
}
