import type { WhatIfRequest } from '../../protocol/operator/what-if.ts';
import {
  keyLimitsOf,
  sharedCeilings,
  withOverrides,
  type CallerLimits,
  type SharedCeilings,
} from '../../quota/ceilings.ts';
import type { Budget } from '../../stores/budgets/contract.ts';
import type { KeyTotals, Tenant } from '../../stores/tenants/contract.ts';

/** No limits: what happened was within the limits at the time. */
const UNLIMITED: CallerLimits = {
  sessionsPerMinute: Infinity,
  dailyTokens: Infinity,
  dailyMicroDollars: Infinity,
  concurrentSessions: Infinity,
};

/** The limits that are tighter than those in force: only they can refuse what happened. */
export interface TriedRules {
  /** The key that `limits` and `totals` apply to; null for all keys of the tenant. */
  readonly keyId: string | null;
  readonly limits: CallerLimits;
  readonly totals: KeyTotals;
  /** Undefined without a budget, or if it limits no more than the present one. */
  readonly budget: Budget | undefined;
}

/** The key and tenant of a session. */
interface Holder {
  readonly tenantId: string;
  readonly keyId: string | null;
}

/**
 * The parts of a change that are tighter than what is in force.
 * @param present limits of the key's visitors @param budget as it would be saved @param budgets those of the tenant
 */
export function triedRules(
  { keyId: named, limits, totals }: Pick<WhatIfRequest['change'], 'keyId' | 'limits' | 'totals'>,
  budget: Budget | undefined,
  tenant: Pick<Tenant, 'totals' | 'keys'>,
  present: CallerLimits,
  budgets: readonly Budget[],
): TriedRules {
  const keyId = named ?? null;
  const wished = withOverrides(present, limits);
  const ofPresent = keyId === null ? tenant.totals : tenant.keys.find(({ id }) => id === keyId)?.totals;
  return {
    keyId,
    limits: {
      sessionsPerMinute: tighter(wished.sessionsPerMinute, present.sessionsPerMinute),
      dailyTokens: tighter(wished.dailyTokens, present.dailyTokens),
      dailyMicroDollars: tighter(wished.dailyMicroDollars, present.dailyMicroDollars),
      concurrentSessions: tighter(wished.concurrentSessions, present.concurrentSessions),
    },
    totals: Object.fromEntries(
      Object.entries(totals ?? {}).filter(
        ([name, value]) => value !== undefined && value < (ofPresent?.[name as keyof KeyTotals] ?? Infinity),
      ),
    ),
    budget:
      budget &&
      tighterBudget(
        budget,
        budgets.find(({ id }) => id === budget.id),
      ),
  };
}

function tighter(wished: number, present: number): number {
  return wished < present ? wished : Infinity;
}

/** How drastic each consequence of a used-up budget is. */
const STRICTNESS = { tell: 0, refuse: 1, end: 2 } as const;

function tighterBudget(wished: Budget, present: Budget | undefined): Budget | undefined {
  if (wished.atLimit === 'tell') return undefined;
  const isSame =
    present !== undefined &&
    present.of === wished.of &&
    present.period === wished.period &&
    present.from === wished.from &&
    STRICTNESS[present.atLimit] >= STRICTNESS[wished.atLimit];
  const amount = (name: 'microDollars' | 'tokens' | 'microMinutes'): number | null => {
    const [wish, was] = [wished[name] ?? Infinity, (isSame ? present[name] : null) ?? Infinity];
    return wish < was ? wish : null;
  };
  const amounts = {
    microDollars: amount('microDollars'),
    tokens: amount('tokens'),
    microMinutes: amount('microMinutes'),
  };
  return Object.values(amounts).every((one) => one === null) ? undefined : { ...wished, ...amounts };
}

/** The limits of a session's own subject. */
export function limitsFor({ keyId, limits }: TriedRules, session: Pick<Holder, 'keyId'>): CallerLimits {
  return keyId !== null && session.keyId === keyId ? limits : UNLIMITED;
}

/** The ceilings that a session shares with others. */
export function sharedFor({ keyId, totals }: TriedRules, session: Holder): readonly SharedCeilings[] {
  return keyId === null
    ? sharedCeilings(session.tenantId, session.keyId, undefined, { totals })
    : sharedCeilings(session.tenantId, session.keyId, session.keyId === keyId ? { totals } : undefined, undefined);
}

/** Sentences about what the records cannot show. */
export function notReplayed(
  { change }: Pick<WhatIfRequest, 'change'>,
  { limits, totals, budget }: TriedRules,
  present: CallerLimits,
): readonly string[] {
  const { limits: wished = {}, totals: wishedTotals = {} } = change;
  const now = keyLimitsOf(present);
  const isWider =
    Object.entries(wished).some(
      ([name, value]) => value !== undefined && value > (now[name as keyof typeof now] ?? Infinity),
    ) || Object.keys(wishedTotals).some((name) => !(name in totals));
  const isPerMinute = limits.sessionsPerMinute < Infinity || totals.sessionsPerMinute !== undefined;
  return [
    'Creates that were refused at the time, by a limit, a bot verdict or an address, are not among those replayed: what they would have used is not known.',
    'What visitors would have done instead, such as trying again after a refusal, is not known.',
    ...(isWider ? ['A limit that is as wide as the present one, or wider, refuses nothing that happened.'] : []),
    ...(isPerMinute
      ? ['A session counts in the minute in which it began, which may be that after its create was asked for.']
      : []),
    ...(wished.newVisitorSeconds === undefined
      ? []
      : ['limits.newVisitorSeconds: when visitors spoke first is not kept, so that their sessions last as they did.']),
    ...(change.budget?.then === 'tell' ? ['A budget that only tells refuses and ends nothing.'] : []),
    ...(budget?.of.startsWith('user') || limits.dailyTokens < Infinity || limits.dailyMicroDollars < Infinity
      ? ['What visitors used at other tenants is not counted for them.']
      : []),
    'What calls hold back for one another is not kept, so that creates alone are refused, and no call of a session that was opened.',
  ];
}
