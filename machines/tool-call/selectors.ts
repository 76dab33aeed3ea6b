import type { ToolCallRecord, ToolCallState } from './types.ts';

/** The state in which the machine left the record. */
export function savedState({ state }: ToolCallRecord): ToolCallState {
  return state;
}

/** Whether the model is still to be told something. */
export function isUnanswered({ state }: ToolCallRecord): boolean {
  return state === 'asked' || state === 'running';
}

/** The state of a tool call at a time: from its last instant on an answer is too late. */
export function classify(record: ToolCallRecord, at: number): ToolCallState {
  return isUnanswered(record) && at >= record.untilMs ? 'timed_out' : record.state;
}

/** When the clock alone changes it; Infinity for one that is over. */
export function nextDeadline(record: ToolCallRecord): number {
  return isUnanswered(record) ? record.untilMs : Infinity;
}
