/** The overview, updated from the feed. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { sumOf } from '../labels/format.ts';
import type { Activity, Overview } from './shapes.ts';

type Tick = Extract<FeedFrame, { type: 'tick' }>;

/**
 * A newly read overview, with the parts that the service could not read because its database is away taken from the one before. The verdict
 * and the dependencies are always current.
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

/** Whether the service could read its database for the overview. */
export function isWhole({ byState, endingSoon, activity }: Overview): boolean {
  return byState !== null && endingSoon !== null && activity !== null;
}

/** The overview after a frame. Each tick updates the counts, what ends soon and the last minute; what could not be read stays. */
export function overviewAfter(overview: Overview, frame: FeedFrame): Overview {
  if (frame.type !== 'tick') return overview;
  const { byState, endingSoon, dependencies } = frame;
  const { activity } = overview;
  // An older node does not send it.
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

/** What happened in the last whole minute: from the last tick if there was one, otherwise as it was read. */
export function lastMinute(overview: Overview, { started, ended, refused }: Activity): NonNullable<Tick['perMinute']> {
  const told = (overview as Overview & { readonly perMinute?: NonNullable<Tick['perMinute']> }).perMinute;
  return told ?? { started, ended: sumOf(ended), refused: sumOf(refused) };
}
