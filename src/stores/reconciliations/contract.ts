import { HOUR_MS } from '../../kernel/time.ts';
import type { TokenClass, TokenClasses } from '../../protocol/price.ts';

/** What was counted here for one model on a day. */
export interface CountedModel {
  /** The name that calls are opened with, without the date of a snapshot. */
  readonly model: string;
  /** Tokens according to the provider's events. */
  readonly tokens: TokenClasses;
  /** The part of the charge that rests on estimates and on clients' reports. */
  readonly estimatedMicroDollars: number;
}

/** What was counted here for the calls of a provider on a day. */
export interface CountedDay {
  readonly models: readonly CountedModel[];
  /** Excludes the cost of tools, which no provider bills. */
  readonly microDollars: number;
  /** Some entries have no token classes, because a former version wrote them: tokens cannot be compared. */
  readonly isUnclassed: boolean;
  /** Agents have their own prices, so the charge is not meant to match the provider's. */
  readonly hasOwnPrices: boolean;
  readonly causes: Causes;
}

/** What may be behind a difference between our count of a day and the provider's. */
export interface Causes {
  /**
   * Calls that no node heard for a while, so that a part of their usage was estimated, or taken from clients' reports; counted up to `MAX_COUNTED`.
   */
  readonly gapCalls: number;
  /** The calls of which most was estimated, at most `MAX_CAUSES`. */
  readonly gaps: readonly Gap[];
  /** Models in no list of prices, charged at the highest known rates; at most `MAX_CAUSES`. */
  readonly unpriced: readonly string[];
  /** Models that were charged by several versions of the price list; at most `MAX_CAUSES`. */
  readonly repriced: readonly Repriced[];
  /** Sessions whose pages opened calls themselves, which no node hears; counted up to `MAX_COUNTED`. */
  readonly directSessions: number;
  /**
   * Calls whose hang-up the provider did not confirm: they may have gone on, and been billed, when nobody heard them any more; counted up to
   * `MAX_COUNTED`.
   */
  readonly unconfirmedCalls: number;
}

/** A call that nobody here heard for a while. */
export interface Gap {
  /** The id of the call. */
  readonly call: string;
  /** What was estimated of it on the day. */
  readonly microDollars: number;
}

/** A model, and the versions of the price list by which it was charged on the day. */
export interface Repriced {
  readonly model: string;
  readonly versions: readonly string[];
}

/** How many calls or models are named for each cause. */
export const MAX_CAUSES = 5;
/** How far calls and sessions are counted. */
export const MAX_COUNTED = 1000;

/** One class of a model's tokens, as both sides count it. */
export interface ReconciledRow {
  readonly model: string;
  readonly class: TokenClass;
  readonly ours: number;
  readonly theirs: number;
  /** The difference at the list price; null for a model that is in no list. */
  readonly microDollars: number | null;
  /** The two are equal except for a small remainder. */
  readonly isEqual: boolean;
}

/**
 * `equal`: to within half a percent, or ten cents; `explained`: the difference is no greater than what was estimated here, or pages opened calls
 * themselves and every hang-up was confirmed; `unreadable`: the provider's answer does not say what was asked.
 */
export type ReconciledState = 'equal' | 'explained' | 'unexplained' | 'unreadable';

/** A difference that nothing explains, for a model on a day. */
export interface Drift {
  /** Null for a difference in dollars that exceeds those in tokens. */
  readonly model: string | null;
  readonly microDollars: number;
}

export interface ReconciledDay {
  /** YYYY-MM-DD, in UTC, as providers bill. */
  readonly day: string;
  readonly upstream: string;
  readonly state: ReconciledState;
  readonly rows: readonly ReconciledRow[];
  readonly ourMicroDollars: number;
  /** Null if the provider's costs are not known. */
  readonly theirMicroDollars: number | null;
  readonly estimatedMicroDollars: number;
  /** What the unexplained differences are worth. */
  readonly unexplainedMicroDollars: number;
  /** The parts of that. They overlap: a difference in dollars includes those in the tokens of models. */
  readonly drifts: readonly Drift[];
  /** Undefined in reports of earlier versions. */
  readonly causes?: Causes | undefined;
  readonly askedAtMs: number;
}

/** Providers settle late: a day is asked for again, and counts among the unexplained, until it is this many days old. */
export const RECONCILED_DAYS = 3;

/** After this long without an answer a day is asked for again. */
export const ASK_AGAIN_MS = HOUR_MS;

/** Our counts beside those of the providers, by day. @throws Unavailable when the database is away */
export interface Reconciliations {
  /** What was counted here for calls of these providers within [fromMs, toMs). */
  counted(providers: readonly string[], fromMs: number, toMs: number): Promise<CountedDay>;
  /**
   * Whether this node is to ask for the day: of all nodes that claim it one gets true, and only if none has asked since `notSinceMs`. After
   * `ASK_AGAIN_MS` without an answer, because the provider failed or the node died, the day may be claimed again.
   */
  claim(day: string, upstream: string, atMs: number, notSinceMs: number): Promise<boolean>;
  /**
   * Saves the result of a day, and tells the installation's webhooks and these addresses of each drift that has grown since the day was last saved.
   * @returns the drifts that have grown
   */
  save(reconciled: ReconciledDay, mailTo: readonly string[]): Promise<readonly Drift[]>;
  /** The known days, newest first. @param to exclusive */
  list(from: string, to: string): Promise<readonly ReconciledDay[]>;
  /** When the provider last gave an answer that could be read; before the first of these, when it was first asked; undefined if it never was. */
  readAtMs(): Promise<number | undefined>;
  /** The unexplained differences of the last days before an instant, in micro-dollars. */
  unexplainedAt(atMs: number): Promise<number>;
}
