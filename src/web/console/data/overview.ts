/** The overview as the feed goes on with it. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { sumOf } from '../words/format.ts';
import type { Activity, Overview } from './shapes.ts';

type Tick = Extract<FeedFrame, { type: 'tick' }>;

/**
 * The overview as it was read over the one before: what the service could not read, because its database is away, stays as it was. The
 * verdict and what the service needs are known all the same.
 */
export function overviewOver(read: Overview, before: Overview | undefined): Overview {
  if (isWhole(read) || before === undefined) return read;
  return {
    ...read,
    byState: read.byState ?? before.byState,
    byCaller: read.byCaller ?? before.byCaller,
    byTenant: read.byTenant ?? before.byTenant,
    spend: read.spend ?? before.spend,
    endingSoon: read.endingSoon ?? before.endingSoon,
    lateHangups: read.lateHangups ?? before.lateHangups,
    activity: read.activity ?? before.activity,
  };
}

/** Whether the service could read its database for it. */
export function isWhole({ byState, endingSoon, activity }: Overview): boolean {
  return byState !== null && endingSoon !== null && activity !== null;
}

/** The overview after a frame: counts, what ends soon and the last minute follow each tick; what could not be read stays. */
export function overviewAfter(overview: Overview, frame: FeedFrame): Overview {
  if (frame.type !== 'tick') return overview;
  const { byState, endingSoon, dependencies } = frame;
  const { activity } = overview;
  // An older node does not tell it.
  const perMinute = frame.perMinute ?? undefined;
  return {
    ...overview,
    byState: byState ?? overview.byState,
    endingSoon: endingSoon ?? overview.endingSoon,
    dependencies: dependencies ?? overview.dependencies,
    activity:
      perMinute === undefined || activity === null
        ? activity
        : { ...activity, minute: { ...activity.minute, started: perMinute.started } },
    ...(perMinute === undefined ? {} : { perMinute }),
  };
}

/** What went on in the last whole minute: as the last tick told it, else as it was read. */
export function lastMinute(overview: Overview, { started, ended, refused }: Activity): NonNullable<Tick['perMinute']> {
  const told = (overview as Overview & { readonly perMinute?: NonNullable<Tick['perMinute']> }).perMinute;
  return told ?? { started, ended: sumOf(ended), refused: sumOf(refused) };
}
