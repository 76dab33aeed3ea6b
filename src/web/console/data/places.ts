/** Where the operator was on each page, so that going back shows the same rows, the same scroll position, and the link that was followed. */

interface Place {
  /** The scroll positions of the page and of each table that scrolls on its own, in pixels. */
  readonly scrolls: readonly number[];
  /** The address of the link that had the focus. */
  readonly focused: string | undefined;
}

const MAX_PLACES = 50;
const MAX_KEPT = 30;
const places = new Map<string, Place>();
/** The last address of each list, by its path. */
const lists = new Map<string, string>();

let here = '';
let isBack = false;
let wasPopped = false;

/** Notices steps through the browser's history. Must be called before the router listens. */
export function watchHistory(): void {
  addEventListener('popstate', () => (wasPopped = true));
}

const pathOf = (url: string): string => url.split('?')[0] ?? '';

/** Records the address that is about to be drawn, while the previous page is still there. */
export function noteAddress(url: string): void {
  if (url === here) return;
  if (here !== '') {
    put(places, here, seenPlace(), MAX_PLACES);
    put(lists, pathOf(here), here, MAX_PLACES);
  }
  // A link from an item to the list that it was opened from also counts as going back.
  isBack = wasPopped || pathOf(here).startsWith(`${pathOf(url)}/`);
  wasPopped = false;
  here = url;
}

/** The address of a list as the operator left it, for links from its items; `href` itself if the list was not open before. */
export function listAddress(href: string): string {
  const path = pathOf(href);
  return pathOf(here).startsWith(`${path}/`) ? (lists.get(path) ?? href) : href;
}

/** Keeps lists for going back. On a new visit, `make` is called with the list that was there before, if any. */
export function createKept<T>(): (name: string, make: (before: T | undefined) => T) => T {
  const kept = new Map<string, T>();
  return (name, make) => {
    const before = kept.get(name);
    const list = before !== undefined && isBack ? before : make(before);
    put(kept, name, list, MAX_KEPT);
    return list;
  };
}

/** Scrolls the page that was just drawn to where it was left; a new page starts at the top. */
export function showPlace(): void {
  const main = document.getElementById('main');
  main?.focus({ preventScroll: true });
  if (main === null) return;
  main.scrollTop = 0;
  const place = isBack ? places.get(here) : undefined;
  if (place !== undefined) restore(main, place);
}

/** Rows may be drawn after the page, so this is tried again at each change until it succeeds or the operator does something. */
function restore(main: HTMLElement, { scrolls, focused }: Place): void {
  const show = (): boolean => {
    const boxes = scrollersOf(main);
    const isScrolled = scrolls.every((top, at) => {
      const box = boxes[at];
      if (box === undefined) return top === 0;
      if (Math.abs(box.scrollTop - top) > 1) box.scrollTop = top;
      return Math.abs(box.scrollTop - top) <= 1;
    });
    const link = focused === undefined ? undefined : linksOf(main).find((each) => hrefOf(each) === focused);
    if (isScrolled) link?.focus({ preventScroll: true });
    return isScrolled && (focused === undefined || link !== undefined);
  };
  if (show()) return;
  const observer = new MutationObserver(() => show() && stop());
  const stop = (): void => {
    observer.disconnect();
    for (const type of DOINGS) removeEventListener(type, stop, true);
  };
  for (const type of DOINGS) addEventListener(type, stop, true);
  observer.observe(main, { childList: true, subtree: true });
}

const DOINGS = ['pointerdown', 'keydown', 'wheel', 'popstate'] as const;

function seenPlace(): Place {
  const main = document.getElementById('main');
  if (main === null) return { scrolls: [], focused: undefined };
  const link = linksOf(main).find((each) => each === document.activeElement);
  return {
    scrolls: scrollersOf(main).map(({ scrollTop }) => scrollTop),
    focused: link === undefined ? undefined : hrefOf(link),
  };
}

function scrollersOf(main: HTMLElement): readonly HTMLElement[] {
  return [main, ...main.querySelectorAll<HTMLElement>('.table')];
}

function linksOf(main: HTMLElement): readonly HTMLElement[] {
  return [...main.querySelectorAll<HTMLElement>('a[href]')];
}

function hrefOf(link: HTMLElement): string {
  return link.getAttribute('href') ?? '';
}

/** Adds the newest entry at the end, and removes the oldest if there are too many. */
function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
