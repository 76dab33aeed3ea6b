import { assertEvent, assign, setup } from 'xstate';
import type { ToolCallEvent, ToolCallRecord, ToolFailure } from './types.ts';

/** The change that ends a tool call. */
function ended(
  { askedAtMs, version }: ToolCallRecord,
  at: number,
  state: ToolCallRecord['state'],
  code: ToolFailure | null,
  bytes: number | null = null,
): Partial<ToolCallRecord> {
  return { state, code, bytes, ms: Math.max(0, at - askedAtMs), version: version + 1 };
}

/**
 * The rules of one tool call for a tool of the server. ASK makes its record, which is the machine's context; it is answered exactly once, by its
 * server, by a failure or by the clock, unless its voice call ends first. It reads no clock: each event carries its time.
 */
export const toolCallMachine = setup({
  types: {
    context: {} as ToolCallRecord,
    events: {} as ToolCallEvent,
  },
  guards: {
    isLate: ({ context, event }) => event.at >= context.untilMs,
    isNewer: ({ context, event }) => {
      assertEvent(event, 'TAKEN');
      return event.fence > context.fence;
    },
  },
  actions: {
    ask: assign(({ event }) => {
      assertEvent(event, 'ASK');
      const { terms, at, untilMs, fence } = event;
      return {
        ...terms,
        state: 'asked',
        askedAtMs: at,
        untilMs,
        tries: 0,
        code: null,
        detail: null,
        ms: null,
        bytes: null,
        endReason: null,
        fence,
        version: 1,
      } satisfies ToolCallRecord;
    }),
    start: assign(({ context: { tries, version } }) => ({ state: 'running', tries: tries + 1, version: version + 1 })),
    answer: assign(({ context, event }) => {
      assertEvent(event, 'ANSWERED');
      return { ...ended(context, event.at, 'answered', null, event.bytes), endReason: event.endReason };
    }),
    fail: assign(({ context, event }) => {
      assertEvent(event, ['FAILED', 'REFUSED']);
      const detail = event.type === 'FAILED' ? (event.detail ?? null) : null;
      return { ...ended(context, event.at, 'failed', event.code), detail };
    }),
    timeOut: assign(({ context, event }) => ended(context, event.at, 'timed_out', 'timed_out')),
    drop: assign(({ context, event }) => ended(context, event.at, 'dropped', null)),
    interrupt: assign(({ context, event }) => {
      assertEvent(event, 'TAKEN');
      return { ...ended(context, event.at, 'failed', 'interrupted'), fence: event.fence };
    }),
  },
}).createMachine({
  id: 'tool-call',
  // There is no record until ASK makes it.
  context: {} as ToolCallRecord,
  initial: 'unasked',
  states: {
    unasked: { on: { ASK: { target: 'asked', actions: 'ask' } } },
    asked: {
      on: {
        STARTED: [
          { guard: 'isLate', target: 'timed_out', actions: 'timeOut' },
          { target: 'running', actions: 'start' },
        ],
        REFUSED: { target: 'failed', actions: 'fail' },
        TAKEN: { guard: 'isNewer', target: 'failed', actions: 'interrupt' },
        CALL_CLOSED: { target: 'dropped', actions: 'drop' },
        CLOCK: { guard: 'isLate', target: 'timed_out', actions: 'timeOut' },
      },
    },
    running: {
      on: {
        ANSWERED: [
          { guard: 'isLate', target: 'timed_out', actions: 'timeOut' },
          { target: 'answered', actions: 'answer' },
        ],
        FAILED: [
          { guard: 'isLate', target: 'timed_out', actions: 'timeOut' },
          { target: 'failed', actions: 'fail' },
        ],
        TAKEN: { guard: 'isNewer', target: 'failed', actions: 'interrupt' },
        CALL_CLOSED: { target: 'dropped', actions: 'drop' },
        CLOCK: { guard: 'isLate', target: 'timed_out', actions: 'timeOut' },
      },
    },
    answered: { type: 'final' },
    failed: { type: 'final' },
    timed_out: { type: 'final' },
    dropped: { type: 'final' },
  },
});
