import type { Dependency } from '../kernel/errors.ts';
import { Histogram } from 'prom-client';

/** Whose activity is counted. Names that strangers send are never used, otherwise anybody could fill the memory. */
export interface Whose {
  readonly tenantId?: string | null | undefined;
  readonly keyId?: string | null | undefined;
}

type Kind = 'started' | 'ended' | 'refused' | 'kept' | 'challenged' | 'mint' | 'dropped';

interface Count {
  readonly kind: Kind;
  readonly label: string;
  readonly tenantId: string;
  readonly keyId: string;
  n: number;
}

/** Upper bounds in seconds of the steps in which mints are counted; each is twice the one before. */
const MINT_STEPS = [0.125, 0.25, 0.5, 1, 2, 4, 8] as const;

/** What this process did since the counts were last taken: plain numbers in memory, which are stored elsewhere. */
export class Activity {
  #counts = new Map<string, Count>();
  #dropped = 0;
  readonly #refused: ((code: string, whose: Whose) => void)[] = [];
  readonly #faults = new Map<Dependency, number>();

  /** How many events and refusals could not be kept since the process began. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Calls the listener for each refusal as it is counted. */
  onRefused(listener: (code: string, whose: Whose) => void): void {
    this.#refused.push(listener);
  }

  count(kind: Kind, label: string, whose: Whose = {}): void {
    if (kind === 'dropped') this.#dropped += 1;
    if (kind === 'refused') for (const tell of this.#refused) tell(label, whose);
    const tenantId = whose.tenantId ?? '';
    const keyId = whose.keyId ?? '';
    const key = `${kind}\n${label}\n${tenantId}\n${keyId}`;
    const present = this.#counts.get(key);
    if (present === undefined) this.#counts.set(key, { kind, label, tenantId, keyId, n: 1 });
    else present.n += 1;
  }

  /** Counts a provider's answer by its duration. A caller that disconnected says nothing about the provider. */
  countMint(provider: string, outcome: string, seconds: number): void {
    if (outcome === 'caller_gone') return;
    const step = MINT_STEPS.find((most) => seconds <= most);
    const word = outcome === 'minted' ? 'ok' : outcome;
    this.count('mint', `${provider}|${word}|${step === undefined ? '>8' : `≤${step}`}`);
  }

  noteAway(dependency: Dependency): void {
    this.#faults.set(dependency, this.faultsOf(dependency) + 1);
  }

  /** How often a dependency was away when it was needed. */
  faultsOf(dependency: Dependency): number {
    return this.#faults.get(dependency) ?? 0;
  }

  /** Takes the counts since the last call. */
  take(): readonly Readonly<Count>[] {
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    return counts;
  }
}

const NAME = 'switchboard_http_request_duration_seconds';
const HELP = 'Time from a request to its reply, by route';
/** Upper bounds of the buckets, in milliseconds. */
const BOUNDS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** The durations of the replies of one route that waited for something. */
interface RouteDurations {
  readonly counts: number[];
  sumMs: number;
}

/**
 * How long requests took, by route. Only replies that waited for something are recorded, so that immediate ones cost nothing: those are the
 * rest of all replies, and count as under a millisecond.
 */
export class RequestDurations extends Histogram<'route'> {
  readonly #waited = new Map<string, RouteDurations>();
  readonly #replies: ReadonlyMap<string, readonly number[]>;

  /** @param replies of each route, by status; see `Metrics.repliesOf` */
  constructor(replies: ReadonlyMap<string, readonly number[]>) {
    super({ name: NAME, help: HELP, labelNames: ['route'], registers: [] });
    this.#replies = replies;
  }

  note(route: string, tookMs: number): void {
    const waited = this.#waited.get(route) ?? { counts: BOUNDS.map(() => 0), sumMs: 0 };
    const bucket = BOUNDS.findIndex((bound) => tookMs <= bound);
    const at = bucket === -1 ? BOUNDS.length : bucket;
    waited.counts[at] = (waited.counts[at] ?? 0) + 1;
    waited.sumMs += tookMs;
    this.#waited.set(route, waited);
  }

  /** Called by the library at each scrape. */
  async getForPromString() {
    const values = [...this.#replies].flatMap(([route, byStatus]) => this.#valuesOf(route, byStatus));
    return { name: NAME, help: HELP, type: 'histogram', values };
  }

  /** Buckets are cumulative. Routes without requests are left out. */
  #valuesOf(route: string, byStatus: readonly number[]) {
    const all = sum(byStatus);
    const { counts, sumMs } = this.#waited.get(route) ?? { counts: [], sumMs: 0 };
    if (all === 0) return [];
    let below = all - sum(counts);
    const value = (name: string, amount: number, le?: number | string) => ({
      metricName: `${NAME}_${name}`,
      labels: le === undefined ? { route } : { route, le },
      value: amount,
      exemplar: null,
    });
    const buckets = BOUNDS.map((bound, index) => value('bucket', (below += counts[index] ?? 0), bound / 1000));
    return [...buckets, value('bucket', all, '+Inf'), value('sum', sumMs / 1000), value('count', all)];
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
