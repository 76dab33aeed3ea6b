import { TOKEN_CLASSES, type TokenClasses } from '../../../src/protocol/price.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';

/** A call as the provider bills it and as it was metered. */
export interface ObservedCall {
  readonly id: string;
  readonly billed: TokenClasses;
  /** Tokens that were counted from the provider's events. */
  readonly measured: TokenClasses;
  /** Whether part of its charge was estimated, or reported by its page. */
  readonly isGuessed: boolean;
}

/** A day as it was reconciled, and what the provider really billed on it, by model. */
export interface ObservedDay extends Pick<
  ReconciledDay,
  'day' | 'state' | 'rows' | 'ourMicroDollars' | 'theirMicroDollars' | 'estimatedMicroDollars'
> {
  readonly billed: ReadonlyMap<string, TokenClasses>;
  readonly billedMicroDollars: number;
}

/** Each call's charge is rounded up to the micro-dollar, and the provider's sum is rounded as well. */
const ROUNDED = 1;

/** What is wrong with what was counted of a call: usage counted twice or wrongly, or missing without an estimate in its place. */
export function faultsOfCall({ id, billed, measured, isGuessed }: ObservedCall): string[] {
  return TOKEN_CLASSES.flatMap((each) => {
    const [ours, theirs] = [measured[each], billed[each]];
    if (ours > theirs) return [`${id}: ${ours} ${each} were measured, and ${theirs} billed`];
    return ours < theirs && !isGuessed ? [`${id}: ${ours} ${each} of ${theirs} were measured, none estimated`] : [];
  });
}

/** What is wrong with a reconciled day. @param calls how many calls were metered on it */
export function faultsOfDay(seen: ObservedDay, calls: number): string[] {
  const { day, state, ourMicroDollars: ours, theirMicroDollars: theirs, estimatedMicroDollars: estimated } = seen;
  const faults: string[] = [];
  if (state !== 'equal' && state !== 'explained') faults.push(`${day} is ${state}`);
  if (theirs === null || Math.abs(theirs - seen.billedMicroDollars) > ROUNDED)
    faults.push(`${day}: ${seen.billedMicroDollars} micro-dollars were billed, and ${theirs} were read`);
  const difference = ours - (theirs ?? 0);
  if (Math.abs(difference) > estimated + calls * ROUNDED)
    faults.push(`${day}: the dollars differ by ${difference} millionths, and ${estimated} were estimated`);
  for (const [model, billed] of seen.billed)
    for (const each of TOKEN_CLASSES) {
      const row = seen.rows.find((one) => one.model === model && one.class === each);
      if ((row?.theirs ?? 0) !== billed[each])
        faults.push(`${day}: ${billed[each]} ${each} of ${model} were billed, and ${row?.theirs ?? 0} were read`);
    }
  return faults;
}
