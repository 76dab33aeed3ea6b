import type { Eventually } from '../../kernel/eventually.ts';
import { Lru } from '../../kernel/lru.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { idOfBudget } from '../../protocol/budget.ts';
import type { Budget, BudgetUse, CallsOf, ConnectedTime, UsageScope } from '../../stores/budgets/contract.ts';
import type { Period } from '../calendar.ts';
import { accountOf, countedBy, type BudgetOwner } from './matching.ts';

/** Subjects, keys and sessions whose sums are remembered. */
export const MAX_ACCOUNTS = 20_000;
/** A sum of this age is read again. */
const FRESH_MS = SECOND_MS;
const NOT_CONNECTED: ConnectedTime = { ms: 0, calls: 0 };

/** The connected time of calls in a period: a base up to one or two hours ago, read once an hour, and the time since then. */
interface ConnectedSum {
  readonly of: CallsOf;
  readonly fromMs: number;
  /** The end of what `baseMs` covers; calls that ended by then no longer change. */
  cutMs: number;
  baseMs: number;
  recent: ConnectedTime;
  readAtMs: number;
  reading: Promise<void> | undefined;
}

/** How long the calls that a budget counts were connected. Budgets without minutes cause no query. */
export class ConnectedOfBudgets {
  readonly #budgetUse: Pick<BudgetUse, 'connected'>;
  readonly #sums = new Lru<ConnectedSum>(MAX_ACCOUNTS);

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
    const sum = this.#sums.get(name) ?? newSum(of, fromMs);
    this.#sums.set(name, sum);
    const read = (): ConnectedTime => ({ ms: sum.baseMs + sum.recent.ms, calls: sum.recent.calls });
    if (atMs - sum.readAtMs < freshMs) return read();
    return (sum.reading ??= this.#read(sum, atMs)).then(read);
  }

  async #read(sum: ConnectedSum, atMs: number): Promise<void> {
    const { of, fromMs } = sum;
    try {
      const hourMs = atMs - (atMs % HOUR_MS) - HOUR_MS;
      // A session has few calls.
      const cutMs = 'sessionId' in of ? fromMs : Math.max(fromMs, hourMs);
      let { baseMs } = sum;
      if (cutMs !== sum.cutMs) baseMs = cutMs === fromMs ? 0 : (await this.#budgetUse.connected(of, fromMs, cutMs)).ms;
      const recent = await this.#budgetUse.connected(of, cutMs, atMs);
      Object.assign(sum, { baseMs, cutMs, recent, readAtMs: atMs });
    } finally {
      sum.reading = undefined;
    }
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

function newSum(of: CallsOf, fromMs: number): ConnectedSum {
  return { of, fromMs, cutMs: NaN, baseMs: 0, recent: NOT_CONNECTED, readAtMs: -Infinity, reading: undefined };
}
