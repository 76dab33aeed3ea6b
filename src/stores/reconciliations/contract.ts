import type { TokenClass, TokenClasses } from '../../protocol/price.ts';

/** What was counted here of one model on a day. */
export interface CountedModel {
  /** As calls are opened with, without the date of a snapshot. */
  readonly model: string;
  /** What the provider's events told. */
  readonly tokens: TokenClasses;
  /** What of the charge stands on estimates and on what clients reported. */
  readonly estimatedMicroDollars: number;
}

/** What was counted here of the calls of a provider on a day. */
export interface CountedDay {
  readonly models: readonly CountedModel[];
  /** Without what tools cost, which no provider bills. */
  readonly microDollars: number;
  /** Of some entries no classes are known, because a former version wrote them: tokens cannot be compared. */
  readonly isUnclassed: boolean;
  /** Agents have prices of their own: the charge is not meant to be the provider's. */
  readonly hasOwnPrices: boolean;
  /** Pages opened calls themselves, which nobody here hears. */
  readonly hasDirect: boolean;
}

/** One class of a model's tokens, as both count it. */
export interface ReconciledRow {
  readonly model: string;
  readonly class: TokenClass;
  readonly ours: number;
  readonly theirs: number;
  /** What the difference is worth at the list price; null for a model that no list has. */
  readonly microDollars: number | null;
  /** The two are equal but for a small rest. */
  readonly isEqual: boolean;
}

/**
 * `equal`: but for half a percent, or ten cents; `explained`: what differs is no more than what was estimated here, or pages opened calls
 * themselves; `unreadable`: the provider's answer is not one that says what is asked.
 */
export type ReconciledState = 'equal' | 'explained' | 'unexplained' | 'unreadable';

/** What nothing explains of a model on a day. */
export interface Drift {
  /** Null where tokens are equal and dollars are not. */
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
  /** Null where the provider's costs are not known. */
  readonly theirMicroDollars: number | null;
  readonly estimatedMicroDollars: number;
  /** What the differences are worth that nothing explains. */
  readonly unexplainedMicroDollars: number;
  /** Of what this is, in parts that overlap: dollars that differ beside the tokens of models. */
  readonly drifts: readonly Drift[];
  readonly askedAtMs: number;
}

/** Providers settle late: a day is asked for again until it is so old, and matters for so long. */
export const RECONCILED_DAYS = 3;

/** What we counted beside what providers say, by day. @throws Unavailable when the database is away */
export interface Reconciliations {
  /** What was counted here of calls of these providers from a time on, and before another. */
  counted(providers: readonly string[], fromMs: number, toMs: number): Promise<CountedDay>;
  /** Whether this node is to ask for the day: of all that ask, one is told so, and nobody who comes later than `notSinceMs`. */
  claim(day: string, upstream: string, atMs: number, notSinceMs: number): Promise<boolean>;
  /**
   * Keeps what came of a day, and tells webhooks of the installation, and these addresses, of each drift that has grown since the day was
   * kept before.
   * @returns those that have
   */
  save(reconciled: ReconciledDay, mailTo: readonly string[]): Promise<readonly Drift[]>;
  /** The days that are known, the newest first. @param to is left out */
  list(from: string, to: string): Promise<readonly ReconciledDay[]>;
  /** What nothing explains of the last days before an instant, in micro-dollars. */
  unexplainedAt(atMs: number): Promise<number>;
}
