/** Filters of the sessions list that somebody gave names to. Nothing of them leaves the browser. */
import { signal } from '@preact/signals';
import { readKept, writeKept } from './preferences.ts';

export interface SavedFilter {
  readonly name: string;
  /** The list with this filter. */
  readonly href: string;
}

const NAME = 'filters';
const LIST = '/console/sessions?';
const MAX_FILTERS = 30;
/** A whole session id proves its caller; its first 42 characters find it too. */
const wholeIds = /(s(?::|%3A)[0-9a-f]{32}(?::|%3A)[\w-]{7})[\w-]+/gi;

export const savedFilters = signal<readonly SavedFilter[]>(read());

/** Whether it may be kept: an address is kept nowhere. */
export function isSavable(text: string): boolean {
  return !/@|%40/.test(text);
}

/** Keeps a filter, in the place of another of the same name. */
export function saveFilter(name: string, href: string): void {
  const filter = { name, href: href.replace(wholeIds, '$1') };
  if (isSavedFilter(filter)) keep([filter, ...read().filter((each) => each.name !== name)].slice(0, MAX_FILTERS));
}

export function forgetFilter(name: string): void {
  keep(read().filter((each) => each.name !== name));
}

function keep(filters: readonly SavedFilter[]): void {
  savedFilters.value = filters;
  writeKept(NAME, JSON.stringify(filters));
}

/** As they are now: another tab may have kept some. */
function read(): readonly SavedFilter[] {
  try {
    const kept: unknown = JSON.parse(readKept(NAME) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isSavedFilter) : [];
  } catch {
    return [];
  }
}

function isSavedFilter(filter: unknown): filter is SavedFilter {
  const { name, href } = (filter ?? {}) as Readonly<Record<string, unknown>>;
  return (
    typeof name === 'string' &&
    name !== '' &&
    typeof href === 'string' &&
    href.startsWith(LIST) &&
    isSavable(name) &&
    isSavable(href)
  );
}
