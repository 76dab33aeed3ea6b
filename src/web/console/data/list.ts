/** The rows of a list that comes in pages. A row changes where it is and never moves; new ones wait until somebody asks for them. */
import { batch, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { get, type ReadMore } from './api.ts';
import type { Watch } from './feed.ts';
import { queryText } from './query.ts';
import { useResource } from './resource.ts';

interface Page {
  readonly nextCursor: string | null;
  readonly searchedTo: string | null;
}

/** A row, and whether the newest reading did not find it any more. */
export interface Shown<R> {
  readonly key: string;
  readonly row: R;
  readonly isPast: boolean;
}

export class ListRows<R> {
  readonly shown = signal<readonly Shown<R>[]>([]);
  readonly fresh = signal<readonly Shown<R>[]>([]);
  readonly nextCursor = signal<string | null>(null);
  readonly searchedTo = signal<string | null>(null);
  readonly #keyOf: (row: R) => string;
  #isLoaded = false;

  constructor(keyOf: (row: R) => string) {
    this.#keyOf = keyOf;
  }

  /** Takes the newest page in. */
  take(rows: readonly R[], { nextCursor, searchedTo }: Page): void {
    const found = new Map(rows.map((row) => [this.#keyOf(row), row]));
    if (!this.#isLoaded || this.shown.peek().length === 0) {
      this.#isLoaded = true;
      batch(() => {
        this.shown.value = this.#listed(rows);
        this.nextCursor.value = nextCursor;
        this.searchedTo.value = searchedTo;
      });
      return;
    }
    const known = new Set(this.shown.peek().map(({ key }) => key));
    const lastFound = this.shown.peek().findLastIndex(({ key }) => found.has(key));
    // What is above the last row that was found would have been found too.
    const isCovered = (index: number): boolean => nextCursor === null || index < lastFound;
    const firstKnown = rows.findIndex((row) => known.has(this.#keyOf(row)));
    batch(() => {
      this.fresh.value = this.#listed(firstKnown < 0 ? rows : rows.slice(0, firstKnown));
      this.shown.value = this.shown.peek().map((one, index) => {
        const row = found.get(one.key);
        return row === undefined ? { ...one, isPast: one.isPast || isCovered(index) } : { ...one, row, isPast: false };
      });
    });
  }

  /** Puts the new rows on top: only somebody who asks moves rows. */
  showFresh(): void {
    batch(() => {
      this.shown.value = [...this.fresh.peek(), ...this.shown.peek()];
      this.fresh.value = [];
    });
  }

  /** Puts an older page below. */
  add(rows: readonly R[], { nextCursor, searchedTo }: Page): void {
    const known = new Set(this.shown.peek().map(({ key }) => key));
    batch(() => {
      this.shown.value = [...this.shown.peek(), ...this.#listed(rows).filter(({ key }) => !known.has(key))];
      this.nextCursor.value = nextCursor;
      this.searchedTo.value = searchedTo;
    });
  }

  #listed(rows: readonly R[]): readonly Shown<R>[] {
    return rows.map((row) => ({ key: this.#keyOf(row), row, isPast: false }));
  }
}

/**
 * @param path of the list, with what it is filtered by
 * @param field of a page, in which its rows are
 * @param asked the address that is asked, where that of the list tells of times that move
 */
export function useList<R>(
  path: string,
  field: string,
  keyOf: (row: R) => string,
  watch: Watch,
  asked: () => string = () => path,
) {
  const rows = useMemo(() => new ListRows<R>(keyOf), [path]);
  const { body, failure } = useResource<Page>(path, watch, { asked });
  const page = body.value;
  useEffect(() => {
    if (page !== undefined) rows.take(rowsIn(page, field) as readonly R[], page);
  }, [rows, page]);
  const more: ReadMore = async () => {
    const cursor = rows.nextCursor.peek();
    if (cursor === null) return undefined;
    const address = asked();
    const answer = await get<Page>(
      `${address}${queryText({ cursor }).replace('?', address.includes('?') ? '&' : '?')}`,
    );
    if (!answer.ok) return answer.failure;
    rows.add(rowsIn(answer.body, field) as readonly R[], answer.body);
    return undefined;
  };
  return { rows, isLoaded: page !== undefined, failure: failure.value, more };
}

function rowsIn(page: Page, field: string): unknown {
  return (page as Page & Readonly<Record<string, unknown>>)[field];
}
