import { cacheFor } from '../../kernel/collections.ts';
import { MINUTE_MS, DAY_MS } from '../../kernel/time.ts';
import { LATE_HANGUP_MS } from '../../protocol/operator/hangup.ts';
import type { DependencyState } from '../../protocol/operator/node.ts';
import type { ActivityStore, CountChange } from '../../stores/activity/contract.ts';
import type { VoiceCalls } from '../../stores/voice-calls/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import type { EndingFilter, VoiceHistory } from '../../stores/voice-history/contract.ts';
import { lately, lastMinute, usualHour, readMints } from './activity.ts';
import type { Dependencies } from '../live/dependencies.ts';

const SOON_MS = MINUTE_MS;
/** Cached this long, because many operators may look at once, and the embedded database does one thing at a time. */
export const KEPT_MS = 2000;
/** The interval at which processes write their counts: nothing newer exists sooner. */
export const COUNTED_MS = 5000;

export interface OverviewCacheDeps {
  readonly history: Pick<VoiceHistory, 'counts' | 'countEnding'>;
  readonly activity: Pick<ActivityStore, 'byBucket' | 'sums'>;
  readonly calls: Pick<VoiceCalls, 'countClosing'>;
  readonly dependencies: Pick<Dependencies, 'list'>;
  /** Filters the sessions that end by the clock up to an instant. */
  readonly endingBy: (untilMs: number) => Omit<EndingFilter, 'tenants'>;
}

export type OverviewCache = ReturnType<typeof createOverviewCache>;

/**
 * The numbers that both the overview and the feed show. For each scope a process reads each of them at most every two seconds, however many
 * operators look. Results are as of the time of the read.
 */
export function createOverviewCache({ history, activity, calls, dependencies, endingBy }: OverviewCacheDeps) {
  const recent = cacheFor<CountChange[]>(KEPT_MS);
  const mints = cacheFor<CountChange[]>(COUNTED_MS);
  const filtered = (tenants: TenantScope): readonly string[] | undefined => (tenants === '*' ? undefined : tenants);

  /** Counts of the last five minutes, over all tenants. @throws Unavailable (rejects) when the database is away */
  const latelyCounted = (atMs: number): Promise<CountChange[]> => recent('', atMs, () => lately(activity, atMs));

  return {
    latelyCounted,

    /** Counts of live sessions, and of those that ended within a day. @throws Unavailable (rejects) when the database is away */
    counts: forEachScope(KEPT_MS, (tenants, atMs) => history.counts(atMs - DAY_MS, filtered(tenants))),

    /** How many sessions end by the clock within a minute. @throws Unavailable (rejects) when the database is away */
    endingSoon: forEachScope(KEPT_MS, (tenants, atMs) =>
      history.countEnding({ ...endingBy(atMs + SOON_MS), tenants: filtered(tenants) }),
    ),

    /** How many calls have been closing for more than ten seconds without being hung up. @throws Unavailable (rejects) when the database is away */
    lateHangups: forEachScope(KEPT_MS, (tenants, atMs) => calls.countClosing(atMs - LATE_HANGUP_MS, filtered(tenants))),

    /** Counts of the last whole minute, and of the one before. @throws Unavailable (rejects) when the database is away */
    lastMinute: forEachScope(COUNTED_MS, (tenants, atMs) => lastMinute(activity, atMs, tenants)),

    /** The usual counts of the last 60 minutes. @throws Unavailable (rejects) when the database is away */
    usualHour: forEachScope(MINUTE_MS, (tenants, atMs) => usualHour(activity, atMs, tenants)),

    /** The dependencies of this process, as last found; known even while the database is away. */
    async dependencies(atMs: number): Promise<DependencyState[]> {
      const moved = await mints('', atMs, () => latelyCounted(atMs)).catch(() => []);
      return dependencies.list().map((one) => withMints(one, moved));
    },
  };
}

/** Reads something at most once in `keptMs` for each scope. */
function forEachScope<T>(keptMs: number, read: (tenants: TenantScope, atMs: number) => Promise<T>) {
  const kept = cacheFor<T>(keptMs);
  return (tenants: TenantScope, atMs: number): Promise<T> =>
    kept(JSON.stringify(tenants), atMs, () => read(tenants, atMs));
}

/** The provider is never probed, so its latency comes from its mints. */
function withMints(dependency: DependencyState, moved: readonly CountChange[]): DependencyState {
  if (dependency.name !== 'provider') return dependency;
  const slowest = Math.max(0, ...readMints(moved, 'now').map(({ p95Sec }) => p95Sec ?? 0));
  return slowest === 0 ? dependency : { ...dependency, latencyMs: Math.round(slowest * 1000) };
}
