/** Where somebody was on each page: whoever goes back to one finds the same rows, scrolled as they were, and the link that they followed. */

interface Place {
  /** Of the page, and of each table that scrolls by itself, in pixels. */
  readonly scrolls: readonly number[];
  /** The address of the link that had the focus. */
  readonly focused: string | undefined;
}

const MAX_PLACES = 50;
const MAX_KEPT = 30;
const places = new Map<string, Place>();
/** The address that each list had last, by its path. */
const lists = new Map<string, string>();

let here = '';
let isBack = false;
let wasPopped = false;

/** Hears of steps through the history of the browser: call it before the router does. */
export function watchHistory(): void {
  addEventListener('popstate', () => (wasPopped = true));
}

const pathOf = (url: string): string => url.split('?')[0] ?? '';

/** Notes the address that is about to be drawn, while the page before it is still there. */
export function noteAddress(url: string): void {
  if (url === here) return;
  if (here !== '') {
    put(places, here, seenPlace(), MAX_PLACES);
    put(lists, pathOf(here), here, MAX_PLACES);
  }
  // A link from one thing to the list that it was opened from leads back as well.
  isBack = wasPopped || pathOf(here).startsWith(`${pathOf(url)}/`);
  wasPopped = false;
  here = url;
}

/** The address of a list as it was left, for links from what it lists; `href` itself where it was not open. */
export function listAddress(href: string): string {
  const path = pathOf(href);
  return pathOf(here).startsWith(`${path}/`) ? (lists.get(path) ?? href) : href;
}

/** Lists that are kept for whoever goes back. `make` gets the one that was there before, if somebody comes to it anew. */
export function createKept<T>(): (name: string, make: (before: T | undefined) => T) => T {
  const kept = new Map<string, T>();
  return (name, make) => {
    const before = kept.get(name);
    const list = before !== undefined && isBack ? before : make(before);
    put(kept, name, list, MAX_KEPT);
    return list;
  };
}

/** Shows the page that was just drawn as it was left; one that is new from its top. */
export function showPlace(): void {
  const main = document.getElementById('main');
  main?.focus({ preventScroll: true });
  if (main === null) return;
  main.scrollTop = 0;
  const place = isBack ? places.get(here) : undefined;
  if (place !== undefined) restore(main, place);
}

/** Rows may come, and be drawn, only after the page: it is tried again at each change, until it is done or somebody does something. */
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

/** Puts what is newest last; of too many the oldest goes. */
function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
