import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { NoteSession } from '../stores/journal/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import type { BudgetLimits } from '../budgets/budgets.ts';
import type { BudgetOwner } from '../budgets/counted-by.ts';
import type { CountedEntry } from '../budgets/used-amounts.ts';
import type { EndingSessions, UsedUp } from '../budgets/used-up.ts';
import {
  exceeded,
  exceeds,
  nearsCeiling,
  type CallerCeilings,
  type SharedCeilings,
  type SharedTotals,
} from './ceilings.ts';

/** Who usage was counted for. */
export interface UsageOwner extends BudgetOwner {
  readonly caller: VoiceRecord['caller'];
  /** The session that used it, if known. */
  readonly sessionId: string | null;
}

/** What the ledger says about an entry of today. */
export interface CountedUsage extends CountedEntry, SharedTotals {}

export interface AfterCountedDeps extends CallerCeilings {
  readonly sessions: Pick<EndingSessions, 'endSubject' | 'endKey' | 'endTenant'>;
  readonly budgets: Pick<BudgetLimits, 'counted'>;
  readonly bus: Pick<Bus, 'publish'>;
  /** Adds a session's usage to the notes about it. */
  readonly note: NoteSession;
}

/**
 * What follows usage that was counted today, whoever reported it (docs/contract.md, section 5.8). Ends the subject's sessions whose own key's ceiling
 * a total exceeds; ends the sessions of the widget key, or of all keys of its tenant, when the total of all their subjects exceeds their shared
 * ceiling; and warns those that near a ceiling. Then it applies budgets.
 * @returns the first budget that ends sessions and has nothing left
 */
export async function afterCounted(
  who: UsageOwner,
  counted: CountedUsage,
  deps: AfterCountedDeps,
): Promise<UsedUp | undefined> {
  const { totals, added, atMs, requestId } = counted;
  const [tenantId, keyId] = [who.tenantId ?? '', who.keyId ?? ''];
  noteUsage(who, counted, deps);
  await endWhatExceeds(who, counted, deps);
  for (const { whose } of sharedOver(who, counted, deps))
    await (whose === 'key'
      ? deps.sessions.endKey(tenantId, keyId, 'quota_exceeded', atMs, requestId)
      : deps.sessions.endTenant(tenantId, 'quota_exceeded', atMs, requestId));
  if (added !== null) warnOfCeilings(who, totals, added, deps);
  return deps.budgets.counted(who, counted);
}

/** The ceilings that all subjects of the key, or of its tenant's keys, exceed together. */
export function sharedOver(
  { tenantId, keyId }: UsageOwner,
  totals: SharedTotals,
  { sharedOf }: Pick<AfterCountedDeps, 'sharedOf'>,
): readonly SharedCeilings[] {
  return exceeded(sharedOf(tenantId ?? '', keyId), totals);
}

/** Each session has its own key's ceiling. Most entries exceed no ceiling, and so look up no sessions. */
async function endWhatExceeds(
  who: UsageOwner,
  { totals, atMs, requestId }: CountedUsage,
  deps: AfterCountedDeps,
): Promise<void> {
  const ceilings = deps.ceilingsOf(who.caller, who.tenantId ?? '');
  if (!ceilings.some((limits) => exceeds(totals, limits))) return;
  const isMeant = ({ caller, tenantId, keyId }: VoiceRecord): boolean =>
    exceeds(totals, deps.limitsOf(caller, tenantId, keyId));
  await deps.sessions.endSubject(who.subject, 'quota_exceeded', atMs, isMeant, requestId);
}

function noteUsage(
  { sessionId, tenantId }: UsageOwner,
  { added, atMs }: CountedUsage,
  { note }: AfterCountedDeps,
): void {
  if (sessionId === null || added === null) return;
  const { tokens, microDollars } = added;
  note({ sessionId, tenantId, atMs, kind: 'usage', detail: { tokens, microDollars } });
}

/** Every node warns the sockets of the subject's sessions, each by the ceiling of its own key. */
function warnOfCeilings(who: UsageOwner, after: UsageTotals, entry: UsageTotals, deps: AfterCountedDeps): void {
  const ceilings = deps.ceilingsOf(who.caller, who.tenantId ?? '');
  if (ceilings.some((limits) => nearsCeiling(after, entry, limits)))
    deps.bus.publish({ type: 'quota.neared', subject: who.subject, after, entry });
}
