import type { TakenCount, Counters } from '../stores/counters/contract.ts';
import { countQuietly } from './quiet-count.ts';
import type { Subjects } from './subjects.ts';

/** How many times the budget of one domain the whole installation has. */
const DOMAINS = 5;

/** Whose budget had nothing left. */
export type Spender = 'domain' | 'installation';

export interface BudgetTaken {
  readonly spent: Spender | undefined;
  /** To be given back where it turns out not to count. */
  readonly counts: readonly TakenCount[];
}

export interface DomainBudgetOptions {
  /** What is counted. */
  readonly name: string;
  readonly perDomain: number;
  readonly windowMs: number;
}

/**
 * What all addresses of a domain may use up together, and all domains: without it, whoever guesses would invent an address for each guess
 * (docs/security.md). Exact over all nodes. @throws Unavailable when the database is away
 */
export class DomainBudget {
  readonly #counters: Pick<Counters, 'take'>;
  readonly #subjects: Pick<Subjects, 'domain'>;
  readonly #options: DomainBudgetOptions;

  constructor(counters: Pick<Counters, 'take'>, subjects: Pick<Subjects, 'domain'>, options: DomainBudgetOptions) {
    this.#counters = counters;
    this.#subjects = subjects;
    this.#options = options;
  }

  /** Counts one for an address, or for nobody, for the same questions: the time must not tell who is counted. */
  async take(email: string | undefined, atMs: number): Promise<BudgetTaken> {
    const { name, perDomain } = this.#options;
    const domain = email === undefined ? undefined : this.#subjects.domain(domainOf(email));
    const ofDomain = await this.#takeOne(domain && `${name}:${domain}`, perDomain, atMs);
    // A domain that has nothing left takes nothing from the others.
    const isCounted = domain !== undefined && ofDomain.allowed;
    const ofAll = await this.#takeOne(isCounted ? `${name}:all` : undefined, DOMAINS * perDomain, atMs);
    const spent = !ofDomain.allowed ? 'domain' : !ofAll.allowed ? 'installation' : undefined;
    return { spent, counts: [...ofDomain.counts, ...ofAll.counts] };
  }

  #takeOne(key: string | undefined, limit: number, atMs: number) {
    const { name, windowMs } = this.#options;
    return countQuietly(this.#counters, { key, idleKey: `${name}:idle`, limit, windowMs }, atMs);
  }
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
