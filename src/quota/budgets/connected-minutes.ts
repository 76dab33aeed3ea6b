import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { Lru } from '../../kernel/lru.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { idOfBudget } from '../../protocol/budget.ts';
import type { Budget, BudgetUse, CallsOf, ConnectedTime, UsageScope } from '../../stores/budgets/contract.ts';
import type { Period } from '../calendar.ts';
import { accountOf, countedBy, type BudgetOwner } from './counted-by.ts';
import { lastHoursMs, RunningSum } from './running-sum.ts';

/** Subjects, keys and sessions whose sums are remembered. */
export const MAX_ACCOUNTS = 20_000;
/** A sum of this age is read again. */
const FRESH_MS = SECOND_MS;
const NOT_CONNECTED: ConnectedTime = { ms: 0, calls: 0 };

/** How long the calls that a budget counts were connected. Budgets without minutes cause no query. */
export class ConnectedMinutes {
  readonly #budgetUse: Pick<BudgetUse, 'connected'>;
  readonly #sums = new Lru<RunningSum<ConnectedTime>>(MAX_ACCOUNTS);

  constructor(budgetUse: Pick<BudgetUse, 'connected'>) {
    this.#budgetUse = budgetUse;
  }

  /** @param freshMs how old the result may be @throws Unavailable when the database is away */
  of(budget: Budget, period: Period, owner: BudgetOwner, atMs: number, freshMs = FRESH_MS): Eventually<ConnectedTime> {
    if (budget.microMinutes === null) return NOT_CONNECTED;
    const of = callsOf(budget, owner);
    // A session counts from its beginning, even if that was yesterday.
    const fromMs = budget.period === 'session' ? 0 : period.fromMs;
    if (of === undefined || atMs < fromMs) return NOT_CONNECTED;
    const name = `${accountOf(budget, owner)} ${fromMs}`;
    const sum =
      this.#sums.get(name) ??
      new RunningSum(NOT_CONNECTED, (sinceMs, untilMs, now) => this.#budgetUse.connected(of, sinceMs, untilMs ?? now));
    this.#sums.set(name, sum);
    // A session has few calls. Calls that ended by the cut no longer change.
    const cutMs = 'sessionId' in of ? fromMs : Math.max(fromMs, lastHoursMs(atMs));
    return andThen(sum.upTo(atMs, freshMs, fromMs, cutMs), ({ base, recent }) => ({
      ms: base.ms + recent.ms,
      calls: recent.calls,
    }));
  }
}

/** The scope whose usage is added up for a budget of an agent, a key, a tenant or the installation. */
export function scopeOf({ tenantId, of }: Budget): UsageScope {
  return { tenantId, agentId: idOfBudget(of, 'agent'), keyId: idOfBudget(of, 'key') };
}

/** Undefined before there is a session. */
function callsOf(budget: Budget, { sessionId, subject }: BudgetOwner): CallsOf | undefined {
  const by = countedBy(budget);
  if (by === 'session') return sessionId == null ? undefined : { sessionId };
  return by === 'subject' ? { subject } : scopeOf(budget);
}
