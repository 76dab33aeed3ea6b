/** One that is asked for. */
export interface AskedTool {
  /** The provider's name of the tool call. */
  readonly callId: string;
  /** From then on it is overdue; Infinity for one that whoever runs it always answers. */
  readonly untilMs: number;
}

interface PendingTool extends AskedTool {
  /** The response that asks for it: all of one response are answered before the agent goes on. */
  readonly responseId: string;
}

/** The tools that the agent of one call asks for, and nobody has answered yet. Pure: times are given. */
export type PendingTools = readonly PendingTool[];

/** A response asks for some; one that is asked for already is not asked for twice. @returns also the names of those that are new */
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

/** One is answered; one that is not pending changes nothing. @returns also whether with it all of its response are answered */
export function withAnswered(pending: PendingTools, callId: string): [PendingTools, boolean] {
  const answered = pending.find((tool) => tool.callId === callId);
  if (answered === undefined) return [pending, false];
  const left = pending.filter((tool) => tool !== answered);
  return [left, !left.some(({ responseId }) => responseId === answered.responseId)];
}

/** Those that were not answered in time. */
export function overdueTools(pending: PendingTools, at: number): readonly string[] {
  return pending.filter(({ untilMs }) => untilMs <= at).map(({ callId }) => callId);
}
