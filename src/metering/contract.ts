import type { WorstCase } from '../../machines/held-call/responses.ts';
import type { Eventually } from '../kernel/async.ts';
import type { ModelPrice, TokenClasses } from '../protocol/price.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { ReportedResponse } from '../protocol/usage.ts';
import type { CallUsage, CallUsageAnswer, UsageTotals } from '../stores/ledger/contract.ts';

/** A call as the meter sees it: who it counts for, and at which prices. */
export interface MeteredCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly caller: 'widget' | 'console';
  readonly tenantId: string;
  readonly keyId: string | null;
  readonly model: string;
  /** The agent's own price of the model; null to use the list's. */
  readonly price: ModelPrice | null;
}

/** What a provider reports about a call's cost; and the estimate for a response that it reports nothing about, under the response's id. */
export type UsageEvent =
  | Extract<UpstreamEvent, { type: 'usage' | 'usageTime' | 'usageTotal' | 'usageUnreadable' }>
  | { readonly type: 'usageEstimated'; readonly key: string; readonly tokens: TokenClasses }
  | UsageOfTool;

/** What a call of a tool of the server costs, by its id in the call. */
interface UsageOfTool {
  readonly type: 'usageTool';
  readonly key: string;
  readonly microDollars: number;
}

/** Hears about usage once it is in the ledger and sessions over a ceiling were ended; in order for each call. */
export interface MeteringListener {
  counted(call: MeteredCall, usage: CallUsage, answer: CallUsageAnswer): Promise<void>;
}

/** Limits the output tokens of each response from now on. */
export type LimitResponses = (maxOutputTokens: number) => void;

/** What is left for the calls that this node holds. */
export interface RemainingBudgets {
  /** From now on the call's responses are shortened, its session is warned, and it is ended where that is certain. */
  watch(call: MeteredCall, limitResponses: LimitResponses): void;
  /** The call is over, or belongs to another node. */
  release(callId: string): void;
  /**
   * Output tokens that a response of the call may have now; undefined where nothing limits it, because time is what costs.
   * @throws Unavailable when the database is away
   */
  boundOf(call: MeteredCall): Promise<number | undefined>;
  /**
   * Whether the remainder, as far as it is known here, pays for these responses in the worst case.
   * @param uncounted usage that was heard of the call and is not in the ledger yet
   */
  affords(callId: string, responses: readonly WorstCase[], uncounted: UsageTotals): boolean;
  /** When the remainder of the call's session will be used up at the current rate; Infinity while that is unknown. */
  endsAtMs(callId: string): number;
}

/** Prices what calls use and counts it in the ledger, ends sessions that are over a ceiling, and keeps what the database cannot take yet. */
export interface Metering {
  /** The provider has created the call: the minimum charge of its price is counted now, whatever happens to it. Repeating it does nothing. */
  begin(call: MeteredCall, atMs: number): void;
  /** Counts usage; for one call in the order in which it is reported here. Never throws. */
  hear(call: MeteredCall, event: UsageEvent, atMs: number): void;
  /** Counts, at the expected price, an interval in which nobody heard the call. */
  gap(call: MeteredCall, fromMs: number, untilMs: number): void;
  /**
   * Counts a client's report about a response that nobody here heard; the provider's own events replace it.
   * @throws Unavailable when the database is away: then nothing is counted
   */
  report(call: MeteredCall, responseId: string, tokens: TokenClasses, atMs: number): Promise<CallUsageAnswer>;
  /** Resolves when everything heard of the call is in the ledger. @throws Unavailable while the database is away */
  flushCall(callId: string): Promise<void>;
  /** Usage that was heard of the call and is not in the ledger yet. */
  uncounted(callId: string): UsageTotals;
  /** Since when usage has been waiting for the database; undefined while none is. */
  readonly waitingSinceMs: number | undefined;
  /** Counts what is waiting; background work calls it. @throws Unavailable while the database is away */
  flush(): Promise<void>;
}

/** The session that a report names, proved by its client. */
export interface ReportingSession extends Pick<MeteredCall, 'sessionId' | 'subject' | 'caller' | 'keyId'> {
  readonly tenantId: string | null;
}

/** Reports by clients of sessions whose calls are metered here. @throws Unavailable when the database is away */
export interface ClientReports {
  /** Whether reports by the session's client are ignored because its calls are metered here; with a simulated provider, only while a call is open. */
  isMetered(sessionId: string): Eventually<boolean>;
  /**
   * Counts a response in a gap of its call.
   * @param atMost most that the session's client may report in all; null is no limit
   * @returns undefined where nothing is counted: there is no such call, it has no gap, or the usage cannot be read
   */
  fillGap(
    session: ReportingSession,
    response: ReportedResponse,
    atMost: UsageTotals | null,
    atMs: number,
  ): Promise<CallUsageAnswer | 'implausible' | undefined>;
}
