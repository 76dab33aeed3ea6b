import type { ToolCallRecord, ToolCallState } from './types.ts';

/** The state in which the machine left the record. */
export function savedState({ state }: ToolCallRecord): ToolCallState {
  return state;
}

/** Whether the model still waits for an answer. */
export function isUnanswered({ state }: ToolCallRecord): boolean {
  return state === 'asked' || state === 'running';
}

/** The state of a tool call at a time: at its deadline it is too late for an answer. */
export function classify(record: ToolCallRecord, at: number): ToolCallState {
  return isUnanswered(record) && at >= record.untilMs ? 'timed_out' : record.state;
}

/** When the clock alone changes it; Infinity once it is over. */
export function nextDeadline(record: ToolCallRecord): number {
  return isUnanswered(record) ? record.untilMs : Infinity;
}
