/** Instants and spans that follow the server's clock on their own, without redrawing what is around them. */
import { useComputed } from '@preact/signals';
import { zone } from '../data/preferences.ts';
import { now } from '../data/server-time.ts';
import { agoText, clockText, dayText, spanText, zoneText } from '../labels/format.ts';

/** The time element of an instant. Its title has the day, milliseconds and zone. */
export function Moment({ at, hasMs = false }: { readonly at: string; readonly hasMs?: boolean }) {
  const atMs = Date.parse(at);
  const title = `${dayText(atMs, zone.value)} ${clockText(atMs, zone.value, true)} ${zoneText(atMs, zone.value)}`;
  return (
    <time dateTime={at} title={title}>
      {momentText(atMs, hasMs)}
    </time>
  );
}

/** An instant in the chosen time zone, with the day if it is not today. */
export function momentText(atMs: number, hasMs = false): string {
  const day = dayText(atMs, zone.value);
  const text = clockText(atMs, zone.value, hasMs);
  return day === dayText(now.peek(), zone.value) ? text : `${day} ${text}`;
}

/** Roughly how long ago something was. `isBare` leaves out "ago", for narrow columns whose title says it. */
export function Ago({ at, isBare = false }: { readonly at: string; readonly isBare?: boolean }) {
  const atMs = Date.parse(at);
  const text = useComputed(() => {
    const ago = agoText(now.value - atMs);
    return isBare || ago === 'now' ? ago : `${ago} ago`;
  });
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

/** How long something has taken, or took. */
export function Span({ from, to }: { readonly from: string; readonly to: string | null }) {
  const fromMs = Date.parse(from);
  const toMs = to === null ? undefined : Date.parse(to);
  return <Running key={`${from} ${to}`} text={() => spanText((toMs ?? now.value) - fromMs)} />;
}

/** The time that is left; "due" when it is over, and never negative. */
export function Countdown({ to }: { readonly to: string }) {
  const toMs = Date.parse(to);
  return <Running key={to} text={() => (toMs <= now.value ? 'due' : `in ${spanText(toMs - now.value + 999)}`)} />;
}

/** Its key must say what the text depends on besides the clock. */
function Running({ text }: { readonly text: () => string }) {
  const shown = useComputed(text);
  return <span class="figure">{shown}</span>;
}
