import { NO_TOKENS, TOKEN_CLASSES, type TokenClasses } from '../protocol/price.ts';
import type {
  CountedDay,
  CountedModel,
  Drift,
  ReconciledDay,
  ReconciledRow,
} from '../stores/reconciliations/contract.ts';
import type { ProviderDay } from '../upstream/contract.ts';

/** Differences up to this size count as equal: providers round, and settle late. */
const EQUAL_SHARE = 0.005;
const EQUAL_MICRO_DOLLARS = 100_000;

type Verdict = Omit<ReconciledDay, 'day' | 'upstream' | 'causes' | 'askedAtMs'>;

/** What tokens of a model cost at list price, in micro-dollars; undefined for a model that is in no list. */
export type WorthOf = (model: string, tokens: TokenClasses) => number | undefined;

/** Compares our count with the provider's. */
export function verdictOf(ours: CountedDay, theirs: ProviderDay, worthOf: WorthOf): Verdict {
  const counted = new Map(ours.models.map((each) => [each.model, each]));
  const all = [...new Set([...counted.keys(), ...theirs.models.keys()])].toSorted();
  const models = ours.isUnclassed ? [] : all;
  // What pages use in their own calls nobody here can count. A call that may not have been hung up must never hide behind that.
  const mayBillMore = ours.causes.directSessions > 0 && ours.causes.unconfirmedCalls === 0;
  const compared = models.map((model) => {
    const own = counted.get(model) ?? { model, tokens: NO_TOKENS, estimatedMicroDollars: 0 };
    const rows = rowsOf(own, theirs.models.get(model) ?? NO_TOKENS, worthOf);
    return { model, rows, unexplained: unexplainedOf(rows, own, mayBillMore) };
  });
  const rows = compared.flatMap((each) => each.rows);
  const estimatedMicroDollars = ours.models.reduce((sum, each) => sum + each.estimatedMicroDollars, 0);
  const dollars = dollarsUnexplained(ours, theirs, estimatedMicroDollars, mayBillMore);
  const tokens = compared.reduce((sum, { unexplained }) => sum + unexplained, 0);
  const isEqual =
    rows.every((row) => row.isEqual) && isSmall(ours.microDollars - theirs.microDollars, theirs.microDollars);
  const drifts: Drift[] = compared.flatMap(({ model, unexplained }) =>
    unexplained > 0 ? [{ model, microDollars: unexplained }] : [],
  );
  // Different tokens also mean different dollars, so dollars are reported separately only where they exceed what the tokens explain.
  if (dollars > tokens) drifts.push({ model: null, microDollars: dollars });
  return {
    state: drifts.length > 0 ? 'unexplained' : isEqual ? 'equal' : 'explained',
    rows,
    ourMicroDollars: ours.microDollars,
    theirMicroDollars: theirs.microDollars,
    estimatedMicroDollars,
    unexplainedMicroDollars: Math.max(tokens, dollars),
    drifts,
  };
}

function rowsOf({ model, tokens }: CountedModel, theirs: TokenClasses, worthOf: WorthOf): ReconciledRow[] {
  return TOKEN_CLASSES.flatMap((each) => {
    const [our, their] = [tokens[each], theirs[each]];
    if (our === 0 && their === 0) return [];
    const difference = Math.abs(our - their);
    const worth = worthOf(model, { ...NO_TOKENS, [each]: difference });
    const isCheap = worth !== undefined && worth <= EQUAL_MICRO_DOLLARS;
    const isEqual = difference <= EQUAL_SHARE * their || isCheap;
    return [{ model, class: each, ours: our, theirs: their, microDollars: worth ?? null, isEqual }];
  });
}

/** Cost of a model's unexplained differences, in micro-dollars; 1 for a model without a price, whose cost is unknown. */
function unexplainedOf(rows: readonly ReconciledRow[], own: CountedModel, mayBillMore: boolean): number {
  const different = rows.filter(({ isEqual }) => !isEqual);
  if (different.length === 0) return 0;
  if (mayBillMore && different.every(({ ours, theirs }) => theirs > ours)) return 0;
  if (different.some(({ microDollars }) => microDollars === null)) return 1;
  const worth = different.reduce((sum, { microDollars }) => sum + (microDollars ?? 0), 0);
  return Math.max(0, worth - own.estimatedMicroDollars);
}

/** Dollars may differ where tokens do not: then a price is wrong. */
function dollarsUnexplained(
  ours: CountedDay,
  theirs: ProviderDay,
  estimatedMicroDollars: number,
  mayBillMore: boolean,
): number {
  if (ours.hasOwnPrices) return 0;
  const difference = ours.microDollars - theirs.microDollars;
  if (isSmall(difference, theirs.microDollars) || (mayBillMore && difference < 0)) return 0;
  return Math.max(0, Math.abs(difference) - estimatedMicroDollars);
}

function isSmall(difference: number, of: number): boolean {
  return Math.abs(difference) <= Math.max(EQUAL_SHARE * of, EQUAL_MICRO_DOLLARS);
}

/** How far our count of a model is above the provider's, as a share of the provider's tokens; negative where it is below. */
interface DriftRatio {
  readonly labels: { readonly upstream: string; readonly model: string };
  readonly value: number;
}

/** For each provider, the models of the last day whose tokens were compared. @param days newest first */
export function driftsOf(days: readonly ReconciledDay[]): DriftRatio[] {
  const upstreams = new Set(days.map(({ upstream }) => upstream));
  return [...upstreams].flatMap((upstream) => {
    const rows = days.find((day) => day.upstream === upstream && day.rows.length > 0)?.rows ?? [];
    const models = new Set(rows.map(({ model }) => model));
    return [...models].map((model) => {
      const ofModel = rows.filter((row) => row.model === model);
      const [ours, theirs] = (['ours', 'theirs'] as const).map((whose) =>
        ofModel.reduce((sum, row) => sum + row[whose], 0),
      ) as [number, number];
      return { labels: { upstream, model }, value: (ours - theirs) / Math.max(theirs, 1) };
    });
  });
}
