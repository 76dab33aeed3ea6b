import type { BudgetPeriod } from '../../../src/protocol/budget.ts';

/** What a budget of the test limits, by whom it is used, and what follows. */
export interface Terms {
  /** As in the budget itself. */
  readonly of: string;
  readonly period: BudgetPeriod;
  readonly then: 'end' | 'refuse' | 'tell';
  readonly warnAt: readonly number[];
}

/** A session that uses something. */
export interface Speaker {
  readonly id: string;
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string;
  readonly agentId: string;
}

interface Entry {
  readonly account: string;
  readonly period: string;
  readonly amount: number;
}

/** What was told of an account in a period. */
interface ToldAccount {
  percent: number;
  version: number;
}

/**
 * What a budget must tell and end (docs/contract.md, section 3.1), worked out from the list of all entries. It knows no totals, no states that are
 * stored, and no days that begin at an instant: only which local day an instant is in.
 */
export class BudgetOracle {
  readonly terms: Terms;
  /** What was told, oldest first: period, account, and a threshold or `exceeded` or `raised`. */
  readonly told: string[] = [];
  limit: number;
  readonly #tenantId: string;
  readonly #dayOf: (atMs: number) => string;
  readonly #firstDay: string;
  readonly #entries: Entry[] = [];
  readonly #accounts = new Map<string, ToldAccount>();
  #version = 1;

  /** @param firstDay the first day that counts for a budget that counts once */
  constructor(terms: Terms, limit: number, tenantId: string, dayOf: (atMs: number) => string, firstDay: string) {
    this.terms = terms;
    this.limit = limit;
    this.#tenantId = tenantId;
    this.#dayOf = dayOf;
    this.#firstDay = firstDay;
  }

  counts({ tenantId, keyId, agentId, subject }: Speaker): boolean {
    const { of } = this.terms;
    if (of === 'installation') return true;
    const named = { key: keyId, agent: agentId, user: subject }[of.split(':')[0] ?? ''];
    return tenantId === this.#tenantId && (!of.includes(':') || of.endsWith(`:${named}`));
  }

  /** Whose usage is added up together with the speaker's. */
  accountOf({ id, subject }: Speaker): string {
    const { of, period } = this.terms;
    if (period === 'session') return id;
    return of.startsWith('user') ? subject : of;
  }

  used(speaker: Speaker, atMs: number): number {
    const [account, period] = [this.accountOf(speaker), this.#periodAt(atMs)];
    const counted = this.#entries.filter((entry) => entry.account === account && entry.period === period);
    return counted.reduce((sum, { amount }) => sum + amount, 0);
  }

  isUsedUp(speaker: Speaker, atMs: number): boolean {
    return this.used(speaker, atMs) >= this.limit;
  }

  /** What is missing until the next threshold, or until nothing is left. */
  missing(speaker: Speaker, atMs: number): number {
    const used = this.used(speaker, atMs);
    const amounts = [...this.terms.warnAt, 100].map((percent) => Math.ceil((this.limit * percent) / 100));
    return Math.max(0, (amounts.find((amount) => amount > used) ?? used) - used);
  }

  add(speaker: Speaker, amount: number, atMs: number): void {
    if (this.terms.period === 'once' && this.#dayOf(atMs) < this.#firstDay) return;
    this.#entries.push({ account: this.accountOf(speaker), period: this.#periodAt(atMs), amount });
  }

  change(limit: number): void {
    this.limit = limit;
    this.#version += 1;
  }

  /** A node looks at the speaker's account. */
  look(speaker: Speaker, atMs: number): void {
    const reached = this.reached(speaker, atMs);
    const name = `${this.#periodAt(atMs)} ${this.accountOf(speaker)}`;
    const before = this.#accounts.get(name) ?? { percent: 0, version: 0 };
    const isChanged = before.version !== this.#version;
    if (before.percent === 100 && reached < 100) {
      if (isChanged) this.told.push(`${name} raised`);
    } else if (reached > before.percent) this.told.push(`${name} ${reached === 100 ? 'exceeded' : reached}`);
    const percent = isChanged ? reached : Math.max(reached, before.percent);
    this.#accounts.set(name, { percent, version: this.#version });
  }

  /** The highest threshold that is reached; 100 if nothing is left. */
  reached(speaker: Speaker, atMs: number): number {
    const used = this.used(speaker, atMs);
    if (used >= this.limit) return 100;
    return Math.max(0, ...this.terms.warnAt.filter((percent) => used * 100 >= percent * this.limit && percent < 100));
  }

  /** @returns what was told of each account in each period, in its order */
  static grouped(told: readonly string[]): Readonly<Record<string, string[]>> {
    const found: Record<string, string[]> = {};
    for (const one of told) {
      const at = one.lastIndexOf(' ');
      (found[one.slice(0, at)] ??= []).push(one.slice(at + 1));
    }
    return found;
  }

  #periodAt(atMs: number): string {
    const { period } = this.terms;
    if (period === 'session' || period === 'once') return period;
    const day = this.#dayOf(atMs);
    if (period === 'week') return weekOf(day);
    return period === 'month' ? day.slice(0, 7) : day;
  }
}

/** The ISO week: that of its Thursday. */
function weekOf(day: string): string {
  const thursday = new Date(`${day}T00:00:00Z`);
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const nth = Math.floor((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / 604_800_000) + 1;
  return `${thursday.getUTCFullYear()}-W${String(nth).padStart(2, '0')}`;
}
