import { assign, emit, raise, setup } from 'xstate';
import { abandonedAtMs, beat, durationEndMs, endsByDuration, idleAtMs, nextDeadline, staleAtMs } from './selectors.ts';
import type { EndReason, VoiceEvent, VoiceFact, VoiceLimits, VoiceRecord } from './types.ts';

/** The record, ended. It ends once: later events find the machine in its final state. */
function ended(record: VoiceRecord, endedAtMs: number, endReason: EndReason): VoiceRecord {
  const settledAtMs = Math.max(endedAtMs, record.settledAtMs);
  return { ...record, settledAtMs, endedAtMs, endReason, version: record.version + 1 };
}

/**
 * The law of a voice session (specification sections 3 and 8, contract section 5): engaged → idle → stale → ended, and ended from each.
 * Its context is the record. An event that comes after a deadline first settles the clock and is then raised again,
 * so that it meets the state that holds at its time.
 */
export function createVoiceSessionMachine(limits: VoiceLimits) {
  const late = { guard: 'isDue', actions: ['settle', 'again'] } as const;
  const clock = { guard: 'isDue', actions: 'settle' } as const;
  const end = [late, { target: 'ended', actions: 'endAsRequested' }] as const;

  return setup({
    types: {
      context: {} as VoiceRecord,
      events: {} as VoiceEvent,
      emitted: {} as VoiceFact,
      input: {} as VoiceRecord,
    },
    guards: {
      isDue: ({ context, event }) => event.at >= nextDeadline(context, limits),
      durationIsOver: ({ context }) =>
        endsByDuration(context, limits) && context.settledAtMs > durationEndMs(context, limits),
      hasGoneIdle: ({ context }) => context.settledAtMs >= idleAtMs(context, limits),
      hasGoneStale: ({ context }) => context.settledAtMs >= staleAtMs(context, limits),
      isAbandoned: ({ context }) => context.settledAtMs >= abandonedAtMs(context, limits),
    },
    actions: {
      settle: assign(({ context, event }) => ({
        ...context,
        settledAtMs: Math.max(event.at, context.settledAtMs),
        version: context.version + 1,
      })),
      again: raise(({ event }) => event),
      beat: assign(({ context, event }) =>
        event.type === 'HEARTBEAT' ? beat(context, event.at, event.idleSec) : context,
      ),
      noteActivity: assign(({ context, event }) => ({
        ...beat(context, event.at),
        lastSeenAtMs: context.lastSeenAtMs,
      })),
      endByDuration: assign(({ context }) => ended(context, durationEndMs(context, limits), 'duration_exceeded')),
      endAsAbandoned: assign(({ context }) => ended(context, abandonedAtMs(context, limits), 'abandoned')),
      endAsIdle: assign(({ context, event }) =>
        ended(context, Math.max(event.at, context.settledAtMs), 'idle_exceeded'),
      ),
      endAsRequested: assign(({ context, event }) =>
        event.type === 'END' ? ended(context, Math.max(event.at, context.settledAtMs), event.reason) : context,
      ),
      tellIdle: emit({ type: 'session.idle' }),
      tellStale: emit({ type: 'session.stale' }),
      tellEnded: emit(({ context }) => ({ type: 'session.ended', reason: context.endReason ?? 'abandoned' })),
    },
  }).createMachine({
    id: 'voice-session',
    context: ({ input }) => input,
    initial: 'engaged',
    states: {
      engaged: {
        always: [
          { guard: 'durationIsOver', target: 'ended', actions: 'endByDuration' },
          { guard: 'hasGoneIdle', target: 'idle' },
        ],
        on: {
          HEARTBEAT: [late, { actions: 'beat' }],
          ACTIVITY: [late, { actions: 'noteActivity' }],
          END: end,
          CLOCK: clock,
        },
      },
      idle: {
        entry: 'tellIdle',
        always: { guard: 'hasGoneStale', target: 'stale' },
        on: { HEARTBEAT: [late, { target: 'ended', actions: 'endAsIdle' }], ACTIVITY: clock, END: end, CLOCK: clock },
      },
      stale: {
        entry: 'tellStale',
        always: { guard: 'isAbandoned', target: 'ended', actions: 'endAsAbandoned' },
        on: { HEARTBEAT: [late, { target: 'ended', actions: 'endAsIdle' }], ACTIVITY: clock, END: end, CLOCK: clock },
      },
      ended: { type: 'final', entry: 'tellEnded' },
    },
  });
}
