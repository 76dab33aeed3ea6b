/** How fresh the page is: whether it follows the service, is paused, or has lost it. */
import { useComputed } from '@preact/signals';
import { freshness, heardAt, isPartial, isPaused, isUnread, refreshAll, retryAt, waiting } from '../data/live.ts';
import { zone } from '../data/preferences.ts';
import { now } from '../data/server-time.ts';
import { clockText, countText } from '../labels/format.ts';
import { Shape } from './icons.tsx';

/** Pauses the page, or lets it follow again. */
export function togglePause(): void {
  isPaused.value = !isPaused.value;
  if (!isPaused.value) void refreshAll();
}

/** The state as a button, because the page is only paused by hand. */
export function LiveButton() {
  const kind = isPaused.value ? 'paused' : freshness.value;
  const words = useComputed(() => {
    if (isPaused.value) return waiting.value > 0 ? `paused, ${waiting.value} waiting` : 'paused';
    return freshness.value === 'live' ? 'live' : `as of ${clockText(heardAt.value, zone.value)}`;
  });
  return (
    <button
      type="button"
      class={`live live-${kind}`}
      aria-pressed={isPaused.value}
      title={isPaused.value ? 'Follow again (p)' : 'Pause (p)'}
      onClick={togglePause}
    >
      <Shape>{kind === 'paused' ? <path d="M2 1h3v10H2zM7 1h3v10H7z" /> : <circle cx="6" cy="6" r="4" />}</Shape>
      {words}
    </button>
  );
}

/** Shown above the page while the service does not answer. */
export function AwayBanner() {
  const left = useComputed(() => Math.max(0, Math.ceil(((retryAt.value ?? 0) - now.value) / 1000)));
  if (isPartial.value && freshness.value === 'live')
    return (
      <p class="banner" role="status">
        The nodes cannot hear each other: only this node's changes come at once.
      </p>
    );
  if (isPaused.value || freshness.value === 'live') return null;
  const since = clockText(heardAt.value, zone.value);
  if (isUnread.value)
    return (
      <p class="banner" role="status">
        The database has not answered since {since}. What you see is from then, and nothing can be changed until it
        does.
      </p>
    );
  if (freshness.value !== 'away') return null;
  return (
    <p class="banner" role="status">
      The service has not answered since {since}. What you see is from then.{' '}
      <span aria-hidden="true">Next try in {left} s.</span>{' '}
      <button type="button" onClick={() => void refreshAll()}>
        Try now
      </button>
    </p>
  );
}

/** Tells how many new rows are waiting, and shows them on request. */
export function Fresh({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  if (count === 0) return null;
  return (
    <button type="button" class="fresh" onClick={onShow}>
      {countText(count)} new ↑
    </button>
  );
}
