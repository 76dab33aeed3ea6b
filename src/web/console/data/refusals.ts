/** What the feed reports about refusals, as far as the list can show it without reading again. */
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Refusal, RefusalPage } from './shapes.ts';

/** The most refusals in one frame. If a frame has that many, the server may have stored others too. */
const MAX_SAMPLES = 20;

export interface RefusalFilter {
  readonly code?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly network?: string | undefined;
  readonly to?: string | undefined;
}

type Frame = Extract<FeedFrame, { type: 'refusals' }>;

/** A frame's refusals that match a filter, newest first, and whether the list must be read because there may be more. */
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

/** The page with its counts updated by a frame. */
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
