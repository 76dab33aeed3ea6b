/** The tools that the agent of one call asks for, and nobody has answered yet. Pure: times are given. */
export interface PendingTools {
  readonly pending: readonly PendingTool[];
}

/** One that is asked for. */
export interface AskedTool {
  /** The provider's name of the tool call. */
  readonly callId: string;
  /** From then on it is overdue; Infinity for one that whoever runs it always answers. */
  readonly untilMs: number;
}

export interface PendingTool extends AskedTool {
  /** The response that asks for it: all of one response are answered before the agent goes on. */
  readonly responseId: string;
}

export const noTools: PendingTools = { pending: [] };

/** A response asks for some; one that is asked for already is not asked for twice. @returns those that are new */
export function withAsked(
  { pending }: PendingTools,
  responseId: string,
  asked: readonly AskedTool[],
): [PendingTools, readonly string[]] {
  const known = new Set(pending.map(({ callId }) => callId));
  const fresh = [...new Map(asked.map((tool) => [tool.callId, tool])).values()].filter(
    ({ callId }) => !known.has(callId),
  );
  const more = fresh.map((tool) => ({ ...tool, responseId }));
  return [{ pending: [...pending, ...more] }, fresh.map(({ callId }) => callId)];
}

/** One is answered. @returns `isKnown`: it was still to be answered; `isLast`: with it all of its response are */
export function withAnswered(
  tools: PendingTools,
  callId: string,
): [PendingTools, { readonly isKnown: boolean; readonly isLast: boolean }] {
  const answered = tools.pending.find((tool) => tool.callId === callId);
  if (answered === undefined) return [tools, { isKnown: false, isLast: false }];
  const pending = tools.pending.filter((tool) => tool !== answered);
  const isLast = !pending.some(({ responseId }) => responseId === answered.responseId);
  return [{ pending }, { isKnown: true, isLast }];
}

/** Those that were not answered in time. */
export function overdueTools({ pending }: PendingTools, at: number): readonly string[] {
  return pending.filter(({ untilMs }) => untilMs <= at).map(({ callId }) => callId);
}
