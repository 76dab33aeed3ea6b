import { Refusal } from '../protocol/refusal.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { totalCeilings, type Ceilings } from '../quota/ceilings.ts';
import { boundedDays } from '../quota/shared-ceilings.ts';
import type { HeldAccount, Holds } from '../stores/holds/contract.ts';
import type { SessionSetup } from '../stores/session-setups/contract.ts';
import type { AdmittedCaller } from './create/context.ts';

export interface HoldDeps {
  readonly holds: Pick<Holds, 'take'>;
  readonly calendar: (atMs: number) => QuotaDay;
  /** Micro-dollars that the session holds back from others (RESERVE_SEC); undefined where its calls are not metered here. */
  readonly reserveOf: (setup: Pick<SessionSetup, 'callMode' | 'model' | 'price'>) => number | undefined;
}

/** Whose ceilings a session's calls count against. */
export type Holder = Pick<AdmittedCaller, 'subject' | 'tenantId' | 'keyId' | 'limits' | 'shared'>;

/**
 * Holds back what the next call of a session is expected to use, of the ceilings of the subject, its key and its tenant (docs/contract.md, section 5.12), so
 * that sessions side by side cannot each count on the same remainder. A session without a call holds nothing.
 * @param untilMs when the hold lapses, should nobody see the session's end
 * @returns DAILY_QUOTA_EXCEEDED when nothing is left that is neither used nor held: then nothing changes
 * @throws Unavailable when the database is away
 */
export async function refuseUnlessHeld(
  who: Holder,
  setup: SessionSetup,
  untilMs: number,
  at: number,
  { holds, calendar, reserveOf }: HoldDeps,
): Promise<Refusal | undefined> {
  const microDollars = reserveOf(setup);
  if (microDollars === undefined) return undefined;
  const accounts = accountsOf(who, calendar(at).day);
  const isHeld = await holds.take(setup.sessionId, accounts, { tokens: 0, microDollars }, untilMs, at);
  return isHeld ? undefined : heldRefusal();
}

function accountsOf({ subject, limits, shared }: Holder, day: string): HeldAccount[] {
  const own = { account: subject, day, ceilings: usageOf(limits) };
  const others = boundedDays(shared).map(({ account, totals }) => ({
    account,
    day,
    ceilings: usageOf(totalCeilings(totals)),
  }));
  return [own, ...others];
}

function usageOf({ dailyTokens, dailyMicroDollars }: Ceilings): HeldAccount['ceilings'] {
  return { tokens: dailyTokens, microDollars: dailyMicroDollars };
}

function heldRefusal(): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    'What is left of the daily token or dollar ceiling is held by sessions that talk; try again when one of them has ended or gone idle, or wait for the next day.',
    {},
    { lever: 'RESERVE_SEC', fact: 'what is left is held back by sessions that talk' },
  );
}
