import { Histogram } from 'prom-client';

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
