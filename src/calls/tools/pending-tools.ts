/** A tool call that somebody is asked for. */
export interface AskedTool {
  /** The provider's name of the tool call. */
  readonly callId: string;
  /** From then on it is overdue; Infinity where it is certain to be answered. */
  readonly untilMs: number;
}

interface PendingTool extends AskedTool {
  /** The response that asks for it: the agent goes on once all tool calls of a response are answered. */
  readonly responseId: string;
}

/** The tool calls that the agent of one call waits for. Pure: times are passed in. */
export type PendingTools = readonly PendingTool[];

/** Adds the tool calls of a response; one that is pending already is not added again. @returns also the ids of the new ones */
export function withAsked(
  pending: PendingTools,
  responseId: string,
  asked: readonly AskedTool[],
): [PendingTools, readonly string[]] {
  const known = new Set(pending.map(({ callId }) => callId));
  const fresh = [...new Map(asked.map((tool) => [tool.callId, tool])).values()].filter(
    ({ callId }) => !known.has(callId),
  );
  const more = fresh.map((tool) => ({ ...tool, responseId }));
  return [[...pending, ...more], fresh.map(({ callId }) => callId)];
}

/** Removes an answered tool call; one that is not pending changes nothing. @returns also whether it was the last of its response */
export function withAnswered(pending: PendingTools, callId: string): [PendingTools, boolean] {
  const answered = pending.find((tool) => tool.callId === callId);
  if (answered === undefined) return [pending, false];
  const left = pending.filter((tool) => tool !== answered);
  return [left, !left.some(({ responseId }) => responseId === answered.responseId)];
}

/** The tool calls that were not answered in time. */
export function overdueTools(pending: PendingTools, at: number): readonly string[] {
  return pending.filter(({ untilMs }) => untilMs <= at).map(({ callId }) => callId);
}
