import type { TakenCount, Counters } from '../stores/counters/contract.ts';
import { countInConstantTime } from './constant-time-count.ts';
import type { Subjects } from './subjects.ts';

/** The limit of the whole installation, as a multiple of one domain's. */
const DOMAINS = 5;

/** Whose limit was used up. */
export type Spender = 'domain' | 'installation';

export interface DomainTaken {
  readonly spent: Spender | undefined;
  /** To be given back if it turns out not to count. */
  readonly counts: readonly TakenCount[];
}

export interface DomainLimitOptions {
  /** Keeps its counters apart from those of other limits. */
  readonly name: string;
  /** What the addresses of a domain share in a window; all domains share `DOMAINS` times as much. */
  readonly perDomain: number;
  readonly windowMs: number;
}

/**
 * A limit shared by all addresses of a domain, and one shared by all domains: without them, a guesser could invent an address for each
 * guess (docs/security.md). Exact across all nodes. @throws Unavailable when the database is away
 */
export class DomainLimit {
  readonly #counters: Pick<Counters, 'take'>;
  readonly #subjects: Pick<Subjects, 'domain'>;
  readonly #options: DomainLimitOptions;

  constructor(counters: Pick<Counters, 'take'>, subjects: Pick<Subjects, 'domain'>, options: DomainLimitOptions) {
    this.#counters = counters;
    this.#subjects = subjects;
    this.#options = options;
  }

  /** Counts one for an address, or nothing, with the same queries: the time must not reveal whether something is counted. */
  async take(email: string | undefined, atMs: number): Promise<DomainTaken> {
    const { name, perDomain } = this.#options;
    const domain = email === undefined ? undefined : this.#subjects.domain(domainOf(email));
    const ofDomain = await this.#takeOne(domain && `${name}:${domain}`, perDomain, atMs);
    // A domain whose limit is used up takes nothing from the others.
    const isCounted = domain !== undefined && ofDomain.allowed;
    const ofAll = await this.#takeOne(isCounted ? `${name}:all` : undefined, DOMAINS * perDomain, atMs);
    const spent = !ofDomain.allowed ? 'domain' : !ofAll.allowed ? 'installation' : undefined;
    return { spent, counts: [...ofDomain.counts, ...ofAll.counts] };
  }

  #takeOne(key: string | undefined, limit: number, atMs: number) {
    const { name, windowMs } = this.#options;
    return countInConstantTime(this.#counters, { key, idleKey: `${name}:idle`, limit, windowMs }, atMs);
  }
}

export function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
