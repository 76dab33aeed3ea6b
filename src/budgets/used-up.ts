import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { type Clock, isoOrNull } from '../kernel/time.ts';
import { ifAway } from '../kernel/errors.ts';
import { type Eventually, settleAll, SingleFlight } from '../kernel/async.ts';
import { refOf } from '../kernel/ids.ts';
import { idOfBudget, minutesOf, type BudgetNamed } from '../protocol/budget.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { Period } from '../quota/calendar.ts';
import type { Budget, BudgetUsed } from '../stores/budgets/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { BudgetAlerts } from './alerts.ts';
import { accountOf, countedBy, counts, type BudgetOwner } from './counted-by.ts';
import type { UsedAmounts } from './used-amounts.ts';
import { isUsedUp, minutesMs } from './used-share.ts';

/** Sessions that are ended at once. */
const AT_ONCE = 100;

type EndReason = 'quota_exceeded';

/** Ends sessions; ending one again changes nothing. */
export interface EndingSessions {
  find(id: string): VoiceRecord | undefined | Promise<VoiceRecord | undefined>;
  end(id: string, reason: EndReason, at: number, requestId?: string): unknown;
  endSubject(
    subject: string,
    reason: EndReason,
    at: number,
    isMeant: (record: VoiceRecord) => boolean,
    requestId?: string,
  ): Promise<void>;
  endKey(tenantId: string, keyId: string, reason: EndReason, at: number, requestId?: string): Promise<void>;
  /** Ends the sessions of all widget keys of the tenant. */
  endTenant(tenantId: string, reason: EndReason, at: number, requestId?: string): Promise<void>;
}

export interface ConsequencesDeps {
  readonly sessions: Omit<EndingSessions, 'endTenant'>;
  readonly history: Pick<VoiceHistory, 'activeOfTenant'>;
  readonly directory: { all(): readonly { readonly id: string }[] };
  readonly clock: Clock;
}

/** What follows from how much of a budget is used (docs/contract.md, section 3): operators are told, and if nothing is left its sessions end. */
export class BudgetConsequences {
  readonly #deps: ConsequencesDeps;
  readonly #amounts: UsedAmounts;
  readonly #alerts: BudgetAlerts;
  /** Calls made while all sessions of a budget are being ended wait for that: each entry may ask. */
  readonly #ending = new SingleFlight();

  constructor(deps: ConsequencesDeps, amounts: UsedAmounts, alerts: BudgetAlerts) {
    this.#deps = deps;
    this.#amounts = amounts;
    this.#alerts = alerts;
  }

  /**
   * Tells operators what is new, and ends sessions where needed.
   * @returns whether a budget that ends sessions has nothing left
   * @throws Unavailable when the history is away
   */
  apply(
    budget: Budget,
    period: Period,
    owner: BudgetOwner,
    used: BudgetUsed,
    atMs: number,
    requestId?: string,
  ): Eventually<boolean> {
    const isOfSession = budget.period === 'session';
    if (isOfSession && owner.sessionId == null) return false;
    // The entry may have waited for the database until its period was over.
    const isPresent = period.resetAtMs === null || this.#deps.clock.now() < period.resetAtMs;
    const isOver = budget.atLimit === 'end' && isPresent && isUsedUp(used, budget);
    const account = accountOf(budget, owner);
    const shown = isOfSession ? refOf(account) : account;
    if (!isOver && !this.#alerts.hasMore(budget, period, shown, used)) return false;
    const end = async (): Promise<boolean> => {
      // Sessions are ended first, because they cost money; telling can wait.
      if (isOver) await this.#end(budget, owner, atMs, requestId);
      const projectedAtMs = () => this.#amounts.projectedAtMs(budget, period, used, atMs);
      // The entry is counted and sessions are ending: the next entry or look tells operators.
      await this.#alerts
        .look({ budget, period, account: shown, used, projectedAtMs }, atMs)
        .catch(ifAway(() => undefined));
      return isOver;
    };
    return end();
  }

  async #end(budget: Budget, owner: BudgetOwner, atMs: number, requestId: string | undefined): Promise<void> {
    const { sessions } = this.#deps;
    const { tenantId, of } = budget;
    const by = countedBy(budget);
    if (by === 'session') await sessions.end(owner.sessionId ?? '', 'quota_exceeded', atMs, requestId);
    else if (by === 'subject') {
      const isMeant = (record: VoiceRecord): boolean => record.tenantId === tenantId;
      await sessions.endSubject(owner.subject, 'quota_exceeded', atMs, isMeant, requestId);
    } else if (by === 'key')
      await sessions.endKey(tenantId ?? '', idOfBudget(of, 'key') ?? '', 'quota_exceeded', atMs, requestId);
    else await this.#ending.run(`${tenantId ?? ''} ${of}`, () => this.#endAll(budget, atMs, requestId));
  }

  async #endAll(budget: Budget, atMs: number, requestId: string | undefined): Promise<void> {
    const { sessions, history, directory } = this.#deps;
    const tenants = budget.tenantId === null ? directory.all().map(({ id }) => id) : [budget.tenantId];
    for (const tenantId of tenants) {
      const live = (await history.activeOfTenant(tenantId)).filter((record) => counts(budget, record));
      await settleAll(live, async ({ id }) => sessions.end(id, 'quota_exceeded', atMs, requestId), AT_ONCE);
    }
  }
}

/** A budget that has nothing left, as the refused caller is told. */
export interface UsedUp {
  readonly budget: BudgetNamed;
  readonly why: Why;
}

export function usedUpOf(budget: Budget, period: Period, used: BudgetUsed): UsedUp {
  const { id, of, period: name } = budget;
  const resetAt = isoOrNull(period.resetAtMs);
  return { budget: { id, of, period: name, resetAt }, why: { ...amountsOf(budget, used), lever: `budget ${id}` } };
}

/** The limit that is reached, and what was counted against it. */
function amountsOf(budget: Budget, { microDollars, tokens, connectedMs }: BudgetUsed): Why {
  if (budget.microDollars !== null && microDollars >= budget.microDollars)
    return { limit: budget.microDollars / 1_000_000, count: microDollars / 1_000_000, unit: 'dollars' };
  if (budget.tokens !== null && tokens >= budget.tokens) return { limit: budget.tokens, count: tokens, unit: 'tokens' };
  return { limit: minutesOf(minutesMs(budget)), count: minutesOf(connectedMs), unit: 'minutes' };
}
