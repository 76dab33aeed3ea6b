import type { WorstCase } from '../../machines/held-call/responses.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { ModelPrice, TokenClasses } from '../protocol/price.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { ReportedResponse } from '../protocol/usage.ts';
import type { CallUsage, CallUsageAnswer, UsageTotals } from '../stores/ledger/contract.ts';

/** A call as it is metered: for whom, and by which prices. */
export interface MeteredCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly caller: 'widget' | 'console';
  readonly tenantId: string;
  readonly keyId: string | null;
  readonly model: string;
  /** The agent's own price of the model; null where the list's holds. */
  readonly price: ModelPrice | null;
}

/** What a provider tells of a call's cost, and what a response that it tells nothing of is taken to have cost, under the response's id. */
export type UsageEvent =
  | Extract<UpstreamEvent, { type: 'usage' | 'usageTime' | 'usageTotal' | 'usageUnreadable' }>
  | { readonly type: 'usageEstimated'; readonly key: string; readonly tokens: TokenClasses }
  | UsageOfTool;

/** What a call of a tool of the server costs, by its name in the call. */
interface UsageOfTool {
  readonly type: 'usageTool';
  readonly key: string;
  readonly microDollars: number;
}

/** What metering tells of usage that is in the ledger, once who is over a ceiling was ended; in order for each call. */
export interface MeteringListener {
  counted(call: MeteredCall, usage: CallUsage, answer: CallUsageAnswer): Promise<void>;
}

/** Bounds what a response may have from now on, in tokens. */
export type LimitResponses = (maxOutputTokens: number) => void;

/** What is left for the calls that this node holds. */
export interface Budgets {
  /** From now on the call's responses are shortened, its session is warned, and ended where that is certain. */
  watch(call: MeteredCall, limitResponses: LimitResponses): void;
  /** The call is over, or another node's. */
  release(callId: string): void;
  /**
   * Tokens that a response of the call may have by now; undefined where nothing bounds it, since time is what costs.
   * @throws Unavailable when the database is away
   */
  boundOf(call: MeteredCall): Promise<number | undefined>;
  /**
   * Whether what is left, as far as is known here, pays for responses at their worst.
   * @param uncounted what was heard of the call and is not in the ledger yet
   */
  affords(callId: string, responses: readonly WorstCase[], uncounted: UsageTotals): boolean;
  /** When what is left for the call's session will be used, as it goes at present; Infinity while nothing tells. */
  endsAtMs(callId: string): number;
}

/** Prices what calls use and counts it in the ledger, ends what is over a ceiling, and keeps what the database cannot take yet. */
export interface Metering {
  /** The provider has created the call: the minimum that its price has is counted now, whatever becomes of it. To say it again does nothing. */
  begin(call: MeteredCall, atMs: number): void;
  /** Counts what was told; in the order in which it is called for one call. It never throws. */
  hear(call: MeteredCall, event: UsageEvent, atMs: number): void;
  /** Counts, at the expected price, the time from one instant to another in which nobody heard the call. */
  gap(call: MeteredCall, fromMs: number, untilMs: number): void;
  /**
   * Counts what a client says of a response that nobody here heard; what the provider's events say of it takes its place.
   * @throws Unavailable when the database is away: then nothing is counted
   */
  report(call: MeteredCall, responseId: string, tokens: TokenClasses, atMs: number): Promise<CallUsageAnswer>;
  /** Resolves when all that was heard of the call is in the ledger. @throws Unavailable while the database is away */
  flushCall(callId: string): Promise<void>;
  /** What was heard of the call and is not in the ledger yet. */
  uncounted(callId: string): UsageTotals;
  /** Since when usage waits for the database; undefined while none does. */
  readonly waitingSinceMs: number | undefined;
  /** Counts what waits; the background calls it. @throws Unavailable while the database is away */
  flush(): Promise<void>;
}

/** The session that a report names, proven by its client. */
export interface ReportingSession {
  readonly sessionId: string;
  readonly subject: string;
  readonly caller: 'widget' | 'console';
  readonly tenantId: string | null;
  readonly keyId: string | null;
}

/** What clients say of sessions whose calls are metered here. @throws Unavailable when the database is away */
export interface ClientReports {
  /** Whether what the session's client reports is not counted, because its calls are metered here: of a simulated provider only an open one. */
  isMetered(sessionId: string): Eventually<boolean>;
  /**
   * Counts a response in a gap of its call.
   * @param atMost what the session's client may report in all; null is no bound
   * @returns undefined where nothing is counted: there is no such call, it has no gap, or the usage cannot be read
   */
  fillGap(
    session: ReportingSession,
    response: ReportedResponse,
    atMost: UsageTotals | null,
    atMs: number,
  ): Promise<CallUsageAnswer | 'implausible' | undefined>;
}
