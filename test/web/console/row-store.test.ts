import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RowStore } from '../../../src/web/console/data/row-store.ts';
import type { PagedRows as Paged } from '../../../src/web/console/data/paged.ts';

interface Item {
  readonly key: string;
  readonly text: string;
}

const item = (key: string, text = ''): Item => ({ key, text });
const keysOf = (store: RowStore<Item>): string[] => store.shown.peek().map(({ key }) => key);

const anItem = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), text: fc.constantFrom('', 'x', 'y') });
const someItems = fc.array(anItem, { maxLength: 5 });
/** Anything that may happen to a list while it is shown. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('change' as const), row: anItem, isPast: fc.boolean() }),
  fc.record({ kind: fc.constant('wait' as const), rows: someItems }),
  fc.record({ kind: fc.constant('append' as const), rows: someItems }),
  fc.record({ kind: fc.constant('show' as const) }),
);

type Event = typeof event extends fc.Arbitrary<infer E> ? E : never;

/** @returns whether a shown row changed */
function happen(store: RowStore<Item>, one: Event): boolean {
  if (one.kind === 'change') return store.change(one.row, one.isPast);
  if (one.kind === 'wait') store.wait(one.rows);
  else if (one.kind === 'append') store.append(one.rows);
  else store.showFresh();
  return false;
}

const looksOf = (store: RowStore<Item>): Map<string, { text: string; isPast: boolean }> =>
  new Map(
    store.shown.peek().map(({ key, row, isPast }) => [key, { text: row.peek().text, isPast: isPast.peek() }] as const),
  );

describe('The rows of a list', () => {
  test('never move, are updated in place, are added on top only on request, and appear once', () => {
    fc.assert(
      fc.property(someItems, fc.array(event, { maxLength: 20 }), (first, events) => {
        const store = new RowStore<Item>(({ key }) => key);
        store.reset(first);
        for (const one of events) {
          const before = store.shown.peek();
          const told = looksOf(store);
          const onTop = one.kind === 'show' ? store.fresh.peek().map(({ key }) => key) : [];
          const isShown = one.kind === 'change' && told.has(one.row.key);
          if (isShown) told.set(one.row.key, { text: one.row.text, isPast: one.isPast });
          expect(happen(store, one)).toBe(isShown);
          const after = store.shown.peek();
          // The identical rows, together and in their order, below those that were asked for.
          expect(after.slice(onTop.length, onTop.length + before.length)).toEqual(before);
          expect(keysOf(store).slice(0, onTop.length)).toEqual(onTop);
          expect(after.length - before.length - onTop.length).toBeLessThanOrEqual(one.kind === 'append' ? 5 : 0);
          expect([...looksOf(store)].filter(([key]) => told.has(key))).toEqual(
            keysOf(store).flatMap((key) => (told.has(key) ? [[key, told.get(key)]] : [])),
          );
          const all = [...keysOf(store), ...store.fresh.peek().map(({ key }) => key)];
          expect(new Set(all).size).toBe(all.length);
        }
      }),
    );
  });

  test('are replaced by a reset, after which none wait', () => {
    const store = new RowStore<Item>(({ key }) => key);
    store.reset([item('a'), item('b')]);
    store.wait([item('c')]);
    store.reset([item('b', 'x')]);
    expect(keysOf(store)).toEqual(['b']);
    expect(store.get('a')).toBeUndefined();
    expect(store.fresh.peek()).toEqual([]);
  });

  test('are not drawn again for a reading without changes', () => {
    const store = new RowStore<Item>(({ key }) => key);
    store.reset([item('a', 'x')]);
    const before = store.get('a')?.row.peek();
    store.change(item('a', 'x'));
    expect(store.get('a')?.row.peek()).toBe(before);
  });
});

describe('A list in pages', () => {
  interface Page {
    readonly items: readonly Item[];
    readonly nextCursor: string | null;
  }

  let PagedRows: typeof Paged;
  beforeAll(async () => {
    vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
    ({ PagedRows } = await import('../../../src/web/console/data/paged.ts'));
  });
  afterAll(() => {
    vi.unstubAllGlobals();
  });

  function open(options: { readonly growsBelow?: boolean; readonly dimsMissing?: boolean }) {
    const rows = new PagedRows<Page, Item>({
      address: () => '/items',
      rowsOf: ({ items }) => items,
      keyOf: ({ key }) => key,
      watch: { topics: [] },
      ...options,
    });
    const take = (keys: string, nextCursor: string | null = null): void =>
      rows.takePage({
        items: keys
          .split('')
          .filter(Boolean)
          .map((key) => item(key)),
        nextCursor,
      });
    const past = (): string =>
      rows.shown
        .peek()
        .flatMap(({ key, isPast }) => (isPast.peek() ? [key] : []))
        .join('');
    const fresh = (): string =>
      rows.fresh
        .peek()
        .map(({ key }) => key)
        .join('');
    return { rows, take, past, fresh, shown: () => keysOf(rows).join('') };
  }

  test('that grows at the bottom shows new rows there at once', () => {
    const { take, shown, fresh } = open({ growsBelow: true });
    take('ab');
    take('cba');
    expect([shown(), fresh()]).toEqual(['abc', '']);
  });

  test('dims a row in its place if a page should contain it and does not, until it is back', () => {
    const { take, shown, past, fresh } = open({ dimsMissing: true });
    take('abcd', 'next');
    take('xac', 'next');
    expect([shown(), past(), fresh()]).toEqual(['abcd', 'b', 'x']);
    // If there are more pages, nothing is known about rows below the last one of this page.
    take('ab', 'next');
    expect(past()).toBe('');
    take('b');
    expect([shown(), past()]).toEqual(['abcd', 'acd']);
  });

  test('that was empty shows new rows at once, because nobody is looking at a row yet', () => {
    const { take, shown, fresh } = open({ dimsMissing: true });
    take('');
    take('ab');
    expect([shown(), fresh()]).toEqual(['ab', '']);
  });

  test('lets new rows wait, and shows none twice', () => {
    const { rows, take, shown, fresh } = open({});
    take('b');
    take('ab');
    expect([shown(), fresh()]).toEqual(['b', 'a']);
    rows.showFresh();
    take('ab');
    expect([shown(), fresh()]).toEqual(['ab', '']);
  });
});
