/** The tools that one call's pages are asked to run, and nobody has answered yet. Pure: times are given. */
export interface PendingTools {
  readonly pending: readonly PendingTool[];
}

export interface PendingTool {
  /** The provider's name of the tool call. */
  readonly callId: string;
  /** The response that asks for it: all of one response are answered before the agent goes on. */
  readonly responseId: string;
  readonly untilMs: number;
}

export const noTools: PendingTools = { pending: [] };

/** How long a page may take. */
const ANSWER_MS = 30_000;

/** A response asks for some; one that is asked for already is not asked for twice. @returns those that are new */
export function withAsked(
  { pending }: PendingTools,
  responseId: string,
  callIds: readonly string[],
  at: number,
): [PendingTools, readonly string[]] {
  const known = new Set(pending.map(({ callId }) => callId));
  const fresh = [...new Set(callIds)].filter((callId) => !known.has(callId));
  const more = fresh.map((callId) => ({ callId, responseId, untilMs: at + ANSWER_MS }));
  return [{ pending: [...pending, ...more] }, fresh];
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
