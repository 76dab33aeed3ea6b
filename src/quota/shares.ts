import { MINUTE_MS } from '../kernel/time.ts';
import type { Counters } from '../stores/counters/contract.ts';
import type { Ledger, UsageTotals } from '../stores/ledger/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { QuotaDay } from './calendar.ts';
import { totalCeilings, type Ceilings, type SharedCeilings, type SharedOf } from './ceilings.ts';

export interface ShareDeps {
  readonly calendar: (atMs: number) => QuotaDay;
  readonly sharedOf: SharedOf;
  readonly stores: {
    readonly ledger: Pick<Ledger, 'totals'>;
    readonly counters: Pick<Counters, 'read'>;
    readonly history: Pick<VoiceHistory, 'countOpen'>;
  };
}

interface KeyName {
  readonly tenantId: string;
  readonly id: string;
}

/** Reads the used share of whichever total has the least left, among the key's and its tenant's. 1 is all of it, 0 where there are no totals. */
export function createReadShare({ calendar, sharedOf, stores }: ShareDeps) {
  const { ledger, counters, history } = stores;

  async function shareOf({ account, whose, totals }: SharedCeilings, key: KeyName, atMs: number): Promise<number> {
    const { sessionsPerMinute, concurrentSessions, tokensDaily, dollarsDaily } = totals;
    const { tenantId, id: keyId } = key;
    const isBoundedADay = tokensDaily !== undefined || dollarsDaily !== undefined;
    const [used, minute, open] = await Promise.all([
      isBoundedADay ? ledger.totals(account, calendar(atMs).day) : { tokens: 0, microDollars: 0 },
      sessionsPerMinute === undefined ? 0 : counters.read(`sessions:${account}`, MINUTE_MS, atMs),
      concurrentSessions === undefined
        ? { matched: 0 }
        : history.countOpen(whose === 'key' ? { tenantId, keyId } : { tenantId }),
    ]);
    return Math.max(
      shareOfDay(used, totalCeilings(totals)),
      share(minute, sessionsPerMinute ?? Infinity),
      share(open.matched, concurrentSessions ?? Infinity),
    );
  }

  /** @throws Unavailable when the database is away */
  return async (key: KeyName, atMs: number): Promise<number> => {
    const shares = await Promise.all(sharedOf(key.tenantId, key.id).map((one) => shareOf(one, key, atMs)));
    return Math.max(0, ...shares);
  };
}

/** The used share of a day's ceilings, of whichever has the least left; 1 or more where nothing is left. */
export function shareOfDay(used: UsageTotals, { dailyTokens, dailyMicroDollars }: Ceilings): number {
  return Math.max(share(used.tokens, dailyTokens), share(used.microDollars, dailyMicroDollars));
}

/** A limit of zero counts as fully used. */
function share(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit;
}
