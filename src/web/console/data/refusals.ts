/** What the feed tells of refusals, and what of it the list can show by itself. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Refusal, RefusalPage } from './shapes.ts';

/** As many refusals as a frame has at most: where there are so many, others may have been kept as well. */
const MAX_SAMPLES = 20;

export interface RefusalFilter {
  readonly code?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly network?: string | undefined;
  readonly to?: string | undefined;
}

type Frame = Extract<FeedFrame, { type: 'refusals' }>;

/** The refusals of a frame that a filter finds, the newest first, and whether it must be read which others there are. */
export function toldRefusals(
  { code, tenantId, keyId, network, to }: RefusalFilter,
  { samples }: Frame,
): { readonly rows: readonly Refusal[]; readonly isUntold: boolean } {
  if (to !== undefined) return { rows: [], isUntold: false };
  const rows = samples.filter(
    (one) =>
      (code ?? one.code) === one.code &&
      (tenantId ?? one.tenantId) === one.tenantId &&
      (keyId ?? one.keyId) === one.keyId &&
      (network ?? one.network) === one.network,
  );
  return { rows: rows.toReversed(), isUntold: samples.length >= MAX_SAMPLES };
}

/** The counts of a page after a frame. */
export function countedAfter(page: RefusalPage, { code, to }: RefusalFilter, { byCode, samples }: Frame): RefusalPage {
  if (to !== undefined) return page;
  const counted = { ...page.counted };
  const kept = { ...page.kept };
  for (const [one, n] of Object.entries(byCode)) {
    if ((code ?? one) !== one) continue;
    counted[one] = (counted[one] ?? 0) + n;
    kept[one] = (kept[one] ?? 0) + samples.filter((sample) => sample.code === one).length;
  }
  return { ...page, counted, kept };
}
