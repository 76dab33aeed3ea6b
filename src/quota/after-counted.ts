import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { NoteSession } from '../stores/journal/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import type { BudgetLimits } from './budgets/budgets.ts';
import type { UsedUp } from './budgets/used-up.ts';
import {
  exceeded,
  exceeds,
  nearsCeiling,
  type CallerCeilings,
  type SharedCeilings,
  type SharedTotals,
} from './ceilings.ts';

/** Whom usage was counted for. */
export interface UsageOwner {
  readonly subject: string;
  readonly caller: VoiceRecord['caller'];
  readonly tenantId: string | null;
  readonly keyId: string | null;
  /** The session that used it, where one is known. */
  readonly sessionId: string | null;
}

/** What the ledger says of an entry of today. */
export interface CountedUsage extends SharedTotals {
  /** The calendar day that it was counted on. */
  readonly day: string;
  readonly totals: UsageTotals;
  /** What it added; null for a repeat. */
  readonly added: UsageTotals | null;
  readonly atMs: number;
  /** Of whoever reported it. */
  readonly requestId?: string | undefined;
}

export interface AfterCountedDeps extends CallerCeilings {
  readonly sessions: {
    endSubject(
      subject: string,
      reason: 'quota_exceeded',
      at: number,
      isMeant: (record: VoiceRecord) => boolean,
      requestId?: string,
    ): Promise<void>;
    endKey(tenantId: string, keyId: string, reason: 'quota_exceeded', at: number, requestId?: string): Promise<void>;
    /** Those of all its widget keys. */
    endTenant(tenantId: string, reason: 'quota_exceeded', at: number, requestId?: string): Promise<void>;
  };
  readonly budgets: Pick<BudgetLimits, 'counted'>;
  readonly bus: Pick<Bus, 'publish'>;
  /** What a session used is a part of what happened in it. */
  readonly note: NoteSession;
}

/**
 * What follows usage that was counted today, whoever told of it (docs/contract.md, section 5.8): every session of the subject whose own
 * key's ceiling a total exceeds ends, and every session of the widget key, or of all keys of its tenant, when the total over all of their
 * subjects exceeds its own; who nears a ceiling is warned. Then what follows from budgets.
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

/** The ceilings that are exceeded by all subjects of the key together, or of its tenant's keys. */
export function sharedOver(
  { tenantId, keyId }: UsageOwner,
  totals: SharedTotals,
  { sharedOf }: Pick<AfterCountedDeps, 'sharedOf'>,
): readonly SharedCeilings[] {
  return exceeded(sharedOf(tenantId ?? '', keyId), totals);
}

/** Each session has its own key's ceiling. Most entries exceed none that there is, and ask for no sessions. */
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

/** Every node warns the sockets of the subject's sessions, each by its own key's ceiling. */
function warnOfCeilings(who: UsageOwner, after: UsageTotals, entry: UsageTotals, deps: AfterCountedDeps): void {
  const ceilings = deps.ceilingsOf(who.caller, who.tenantId ?? '');
  if (ceilings.some((limits) => nearsCeiling(after, entry, limits)))
    deps.bus.publish({ type: 'quota.neared', subject: who.subject, after, entry });
}
