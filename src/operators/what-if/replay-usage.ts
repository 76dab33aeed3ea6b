import { accountOf, countedBy, counts } from '../../budgets/counted-by.ts';
import { hasMinutes, isUsedUp, minutesMs } from '../../budgets/used-share.ts';
import { usedUpOf, type UsedUp } from '../../budgets/used-up.ts';
import type { Period, PeriodAt, QuotaDay } from '../../quota/calendar.ts';
import { boundedDays, exceeded, exceeds } from '../../quota/ceilings.ts';
import type { ConnectedSpan } from '../../stores/budgets/contract.ts';
import { keyAccount, NOTHING_USED, tenantAccount, type UsageTotals } from '../../stores/ledger/contract.ts';
import { ReplayConnectedTime, type Talk, type TimeUp } from './replay-connected.ts';
import { limitsFor, sharedFor, type TriedRules } from './rules.ts';

/** Who usage belongs to. */
export interface UsageOwner {
  readonly tenantId: string;
  readonly subject: string;
  readonly keyId: string | null;
  readonly agentId: string | null;
  readonly sessionId: string | null;
}

export interface ReplayUsageDeps {
  readonly calendar: (atMs: number) => QuotaDay;
  readonly periodAt: PeriodAt;
}

/** Usage that the tried rules count, up to an instant that only moves forward: only the current day and period are kept. */
export class ReplayUsage {
  readonly #rules: TriedRules;
  readonly #deps: ReplayUsageDeps;
  #day = '';
  #days = new Map<string, UsageTotals>();
  #period = '';
  #ofBudget = new Map<string, UsageTotals>();
  /** Undefined where no budget with minutes is tried. */
  readonly #connected: ReplayConnectedTime | undefined;

  constructor(rules: TriedRules, deps: ReplayUsageDeps) {
    this.#rules = rules;
    this.#deps = deps;
    const { budget } = rules;
    if (budget === undefined || !hasMinutes(budget)) return;
    const isAnew = budget.period !== 'session' && budget.period !== 'once';
    this.#connected = new ReplayConnectedTime({
      limitMs: budget.atLimit === 'end' ? minutesMs(budget) : Infinity,
      fromMs: budget.period === 'once' ? this.#periodAt(0).fromMs : -Infinity,
      resetAfter: (atMs) => (isAnew ? this.#periodAt(atMs).resetAtMs : null) ?? Infinity,
    });
  }

  /** Counts the calls of a session that begins now, if the tried budget does. */
  connect(who: UsageOwner, spans: readonly ConnectedSpan[]): Talk | undefined {
    const budget = spans.length === 0 ? undefined : this.#budgetOf(who);
    return budget && this.#connected?.add(accountOf(budget, who), spans);
  }

  /** The session of these calls ends earlier than it did. */
  hangUp(talk: Talk, atMs: number): void {
    this.#connected?.end(talk, atMs);
  }

  /** Lets connected time pass. @yields accounts, named as in `endedUnder`, that have used theirs up and end their sessions */
  *timeUp(untilMs: number): Generator<TimeUp> {
    for (const { account, atMs } of this.#connected?.until(untilMs) ?? []) yield { account: budgetName(account), atMs };
  }

  /** The day's total, as the ledger returns it; nothing for any day but that of the last entry. */
  totals(account: string, day: string): UsageTotals {
    return (day === this.#day ? this.#days.get(account) : undefined) ?? NOTHING_USED;
  }

  add(who: UsageOwner, added: UsageTotals, atMs: number): void {
    this.#turn(atMs);
    if (limitsFor(this.#rules, who).dailyTokens < Infinity || limitsFor(this.#rules, who).dailyMicroDollars < Infinity)
      addTo(this.#days, who.subject, added);
    for (const { account } of boundedDays(sharedFor(this.#rules, who))) addTo(this.#days, account, added);
    const budget = this.#budgetOf(who);
    if (budget === undefined || atMs < this.#periodAt(atMs).fromMs) return;
    const account = accountOf(budget, who);
    if (account !== '') addTo(this.#ofBudget, account, added);
  }

  /** The accounts that can end a session once too much is used: those that the rules limit. */
  endedUnder(who: UsageOwner): readonly string[] {
    const { budget } = this.#rules;
    const limits = limitsFor(this.#rules, who);
    const isBounded = limits.dailyTokens < Infinity || limits.dailyMicroDollars < Infinity;
    return [
      ...(isBounded ? [subjectName(who)] : []),
      ...boundedDays(sharedFor(this.#rules, who)).map(({ account }) => account),
      ...(budget?.atLimit === 'end' && this.#budgetOf(who) !== undefined ? [budgetName(accountOf(budget, who))] : []),
    ];
  }

  /** The accounts of a session's holder that are so far used up that sessions end. */
  over(who: UsageOwner, atMs: number): readonly string[] {
    this.#turn(atMs);
    const { budget } = this.#rules;
    const { day } = this.#deps.calendar(atMs);
    const own = exceeds(this.totals(who.subject, day), limitsFor(this.#rules, who));
    const ofKey = who.keyId === null ? null : this.totals(keyAccount(who.tenantId, who.keyId), day);
    const ofTenant = this.totals(tenantAccount(who.tenantId), day);
    const shared = exceeded(sharedFor(this.#rules, who), { keyTotals: ofKey, tenantTotals: ofTenant });
    const isOver = budget?.atLimit === 'end' && this.usedUp(who, atMs) !== undefined;
    return [
      ...(own ? [subjectName(who)] : []),
      ...shared.map(({ account }) => account),
      ...(isOver ? [budgetName(accountOf(budget, who))] : []),
    ];
  }

  /** The tried budget, where none of it is left for the holder. */
  usedUp(who: UsageOwner, atMs: number): UsedUp | undefined {
    this.#turn(atMs);
    const budget = this.#budgetOf(who);
    if (budget === undefined) return undefined;
    const account = accountOf(budget, who);
    const connectedMs = this.#connected?.of(account, atMs) ?? 0;
    const used = { ...(this.#ofBudget.get(account) ?? NOTHING_USED), connectedMs };
    return isUsedUp(used, budget) ? usedUpOf(budget, this.#periodAt(atMs), used) : undefined;
  }

  /** Drops an ended session's usage, which only a budget per session keeps. */
  forget(sessionId: string): void {
    if (this.#rules.budget?.period !== 'session') return;
    this.#ofBudget.delete(sessionId);
    this.#connected?.forget(sessionId);
  }

  #budgetOf(who: UsageOwner) {
    const { budget } = this.#rules;
    if (budget === undefined || !counts(budget, who)) return undefined;
    return countedBy(budget) === 'session' && who.sessionId === null ? undefined : budget;
  }

  #periodAt(atMs: number): Period {
    const { period = 'day', from = null } = this.#rules.budget ?? {};
    return this.#deps.periodAt({ period, from }, atMs);
  }

  #turn(atMs: number): void {
    const { day } = this.#deps.calendar(atMs);
    if (day !== this.#day) {
      this.#day = day;
      this.#days = new Map();
    }
    if (this.#rules.budget === undefined) return;
    const { name } = this.#periodAt(atMs);
    if (name !== this.#period) {
      this.#period = name;
      this.#ofBudget = new Map();
    }
  }
}

/** The prefix keeps names of subjects, accounts and budgets apart: none of them contains a space. */
function subjectName({ subject }: UsageOwner): string {
  return `subject ${subject}`;
}

function budgetName(account: string): string {
  return `budget ${account}`;
}

function addTo(sums: Map<string, UsageTotals>, account: string, { tokens, microDollars }: UsageTotals): void {
  const sum = sums.get(account) ?? NOTHING_USED;
  sums.set(account, { tokens: sum.tokens + tokens, microDollars: sum.microDollars + microDollars });
}
