import { mayDo, type Operator } from '../operators/roles.ts';
import { iso } from '../kernel/time.ts';
import { totalsOf } from '../operators/overview/activity.ts';
import type { OverviewCache } from '../operators/overview/overview-cache.ts';
import type { FeedFrame } from '../protocol/operator/feed.ts';

export type TickFigures = Pick<OverviewCache, 'counts' | 'endingSoon' | 'lastMinute' | 'dependencies'>;

type Tick = Omit<Extract<FeedFrame, { type: 'tick' }>, 'seq'>;

/** Operators with the same group see the same figures. */
export function groupOf({ tenants, role }: Operator): string {
  return JSON.stringify([tenants, mayDo(role, 'see-installation')]);
}

/** The frame that a group gets every two seconds. What cannot be read is null, and the first fault goes to `onError`. Never rejects. */
export async function tickOf(
  { tenants, role }: Operator,
  atMs: number,
  lossy: boolean,
  figures: TickFigures,
  onError: (error: unknown) => void,
): Promise<Tick> {
  const faults: unknown[] = [];
  const orNull = <T>(read: Promise<T>): Promise<T | null> =>
    read.catch((fault: unknown) => {
      faults.push(fault);
      return null;
    });
  const [counts, endingSoon, minute, dependencies] = await Promise.all([
    orNull(figures.counts(tenants, atMs)),
    orNull(figures.endingSoon(tenants, atMs)),
    orNull(figures.lastMinute(tenants, atMs)),
    mayDo(role, 'see-installation') ? orNull(figures.dependencies(atMs)) : null,
  ]);
  if (faults.length > 0) onError(faults[0]);
  const perMinute = minute === null ? null : totalsOf(minute);
  const at = iso(atMs);
  return { type: 'tick', at, byState: counts?.byState ?? null, endingSoon, perMinute, dependencies, lossy };
}
