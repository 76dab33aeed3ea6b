/** A change in words, and where more about it is. */
import { queryText } from '../data/query.ts';
import type { Changes } from '../data/shapes.ts';
import { countText } from './format.ts';
import { reasonWords } from './sessions.ts';

type CountChange = Changes['moved'][number];

const isCode = (what: string): boolean => /^[A-Z_]+$/.test(what);

/** Splits `sessions ended (create_failed)` into what changed and its kind. */
function kindOf(what: string): { readonly base: string; readonly kind: string } {
  const [, base = what, kind = ''] = /^(.*) \((.*)\)$/.exec(what) ?? [];
  return { base, kind };
}

/** `refused with ORIGIN_MISMATCH` or `sessions ended (create failed)`. */
export function whatMoved({ what }: CountChange): string {
  if (isCode(what)) return `refused with ${what}`;
  const { base, kind } = kindOf(what);
  return base === 'sessions ended' ? `${base} (${reasonWords(kind)})` : what;
}

/** What an operator did, parsed from the service's `ann@acme.example: key.issue acme/shop.`; undefined if it has another form. */
export function actOf(
  sentence: string,
): { readonly actor: string; readonly action: string; readonly target: string } | undefined {
  const [, actor, action, target] = /^(.+?): ([a-z]+\.[a-z]+) (.+)\.$/s.exec(sentence) ?? [];
  return actor === undefined || action === undefined || target === undefined ? undefined : { actor, action, target };
}

/** `+940 %`, `−78 %`, `new`. */
export function howMuch({ factor }: CountChange): string {
  if (factor === null) return 'new';
  const percent = Math.round((factor - 1) * 100);
  return `${percent < 0 ? '−' : '+'}${countText(Math.abs(percent))} %`;
}

/** @param since as in the page's address */
export function whereMoved({ what }: CountChange, since: string): string | undefined {
  if (isCode(what)) return `/console/refusals${queryText({ code: what, from: since })}`;
  const { base, kind } = kindOf(what);
  if (base === 'sessions ended') return `/console/sessions${queryText({ reason: kind, sort: '-endedAt' })}`;
  if (base === 'sessions started') return `/console/sessions${queryText({ caller: kind, from: since })}`;
  if (what === 'requests that failed') return `/console/refusals${queryText({ code: 'INTERNAL_ERROR', from: since })}`;
  if (base.startsWith('mint')) return `/console/refusals${queryText({ code: 'UPSTREAM_ERROR', from: since })}`;
  return what.endsWith('dropped') ? '/console/nodes' : undefined;
}
