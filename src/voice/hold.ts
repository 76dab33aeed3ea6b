import { Refusal } from '../protocol/refusal.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import { totalCeilings, type Ceilings } from '../quota/ceilings.ts';
import type { HeldAccount, Holds } from '../stores/holds/contract.ts';
import { keyAccount } from '../stores/ledger/contract.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import type { AdmittedCaller } from './allowances.ts';
import type { Undo } from './undo.ts';

export interface HoldDeps {
  readonly holds: Holds;
  readonly calendar: (atMs: number) => QuotaDay;
  /** Micro-dollars that the session holds back from others (RESERVE_SEC); undefined where its calls are not metered here. */
  readonly reserveOf: (session: SessionConfig) => number | undefined;
}

/**
 * Holds back what a session is expected to use, of the subject's ceiling and of the key's (docs/contract.md, section 5.12), so that sessions
 * side by side cannot each count on the same remainder. Direct sessions hold nothing.
 * @param untilMs when the hold lapses, should nobody see the session's end
 * @returns how to give it back, or DAILY_QUOTA_EXCEEDED when nothing is left
 */
export async function takeHold(
  who: AdmittedCaller,
  session: SessionConfig,
  sessionId: string,
  untilMs: number,
  at: number,
  { holds, calendar, reserveOf }: HoldDeps,
): Promise<Undo | Refusal> {
  const microDollars = reserveOf(session);
  if (microDollars === undefined) return () => undefined;
  const accounts = accountsOf(who, calendar(at).day);
  const isHeld = await holds.take(sessionId, accounts, { tokens: 0, microDollars }, untilMs, at);
  return isHeld ? () => holds.free(sessionId) : heldRefusal();
}

function accountsOf({ subject, tenantId, keyId, limits, totals }: AdmittedCaller, day: string): HeldAccount[] {
  const own = { account: subject, day, ceilings: usageOf(limits) };
  const isBounded = totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined;
  if (keyId === null || !isBounded) return [own];
  return [own, { account: keyAccount(tenantId, keyId), day, ceilings: usageOf(totalCeilings(totals)) }];
}

function usageOf({ dailyTokens, dailyMicroDollars }: Ceilings): HeldAccount['ceilings'] {
  return { tokens: dailyTokens, microDollars: dailyMicroDollars };
}

function heldRefusal(): Refusal {
  return new Refusal(
    'DAILY_QUOTA_EXCEEDED',
    'What is left of the daily token or dollar ceiling is held by sessions that are open; end one with /api/realtime/end, or wait for the next day.',
    {},
    { lever: 'RESERVE_SEC', fact: 'what is left is held back by sessions that are open' },
  );
}
