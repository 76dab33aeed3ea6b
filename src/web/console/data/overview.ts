/** The overview as the feed goes on with it. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Overview } from './shapes.ts';
import { sumOf } from './sum.ts';

type Tick = Extract<FeedFrame, { type: 'tick' }>;

/** The overview after a frame: counts, what ends soon and the last minute follow each tick; what could not be read stays. */
export function overviewAfter(overview: Overview, frame: FeedFrame): Overview {
  if (frame.type !== 'tick') return overview;
  const { byState, endingSoon, dependencies } = frame;
  // An older node does not tell it.
  const perMinute = frame.perMinute ?? undefined;
  const { minute } = overview.activity;
  return {
    ...overview,
    byState: byState ?? overview.byState,
    endingSoon: endingSoon ?? overview.endingSoon,
    dependencies: dependencies ?? overview.dependencies,
    activity:
      perMinute === undefined
        ? overview.activity
        : { ...overview.activity, minute: { ...minute, started: perMinute.started } },
    ...(perMinute === undefined ? {} : { perMinute }),
  };
}

/** What went on in the last whole minute: as the last tick told it, else as it was read. */
export function lastMinute(overview: Overview): NonNullable<Tick['perMinute']> {
  const told = (overview as Overview & { readonly perMinute?: NonNullable<Tick['perMinute']> }).perMinute;
  if (told !== undefined) return told;
  const { started, ended, refused } = overview.activity.minute;
  return { started, ended: sumOf(ended), refused: sumOf(refused) };
}
