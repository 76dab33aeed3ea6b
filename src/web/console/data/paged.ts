/** A list that comes in pages under one address: the first is read again and again, further ones once. */
import { batch, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { get, isForbidden, isPassing, type Answer, type Failure, type ReadMore } from './api.ts';
import type { Watch } from './feed.ts';
import { isPaused, keepFresh, noteHeard, waiting } from './live.ts';
import { createKept } from './places.ts';
import { RowStore } from './row-store.ts';

interface Page {
  readonly nextCursor: string | null;
  readonly searchedTo?: string | null;
}

export interface PageSource<P extends Page, R> {
  /** The address of the first page, whose times may move. */
  readonly address: () => string;
  readonly rowsOf: (page: P) => readonly R[];
  readonly keyOf: (row: R) => string;
  readonly watch: Watch;
  /** How often it is read beside the feed. */
  readonly besideFeedMs?: number;
  /** Whether new rows come below; else they wait until somebody asks for them. */
  readonly growsBelow?: boolean;
  /** Whether rows that left the list are dimmed, and the list is there at once for whoever comes back to it. */
  readonly dimsMissing?: boolean;
  /** Where the feed itself tells of new rows. */
  readonly feed?: FeedRows<P, R>;
}

/** What a list takes from the feed. */
interface FeedRows<P, R> {
  /** New rows of a frame, the newest first, and whether it must be read which others there are; undefined of other frames. */
  readonly rowsOf: (frame: FeedFrame) => { readonly rows: readonly R[]; readonly isUntold: boolean } | undefined;
  /** What a page says beside its rows, after a frame. */
  readonly after: (page: P, frame: FeedFrame) => P;
  /** By what rows are sorted, the greatest first. */
  readonly orderOf: (row: R) => string;
}

/** New rows that wait at most, where the feed tells of them. */
const MAX_FRESH = 1000;
const keptOf = createKept<unknown>();

export class PagedRows<P extends Page, R> extends RowStore<R> {
  /** The newest first page: what it says beside its rows. */
  readonly page = signal<P | undefined>(undefined);
  readonly nextCursor = signal<string | null>(null);
  /** How far was looked, where the last page is short because much was searched. */
  readonly searchedTo = signal<string | null>(null);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly #source: PageSource<P, R>;

  constructor(source: PageSource<P, R>) {
    super(source.keyOf);
    this.#source = source;
  }

  /** Reads the first page. @returns whether the service answered */
  async refresh(): Promise<boolean> {
    const answer = await this.#read();
    this.failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return !isPassing(answer.failure);
    this.takePage(answer.body);
    return true;
  }

  /** Takes the newest first page in. */
  takePage(page: P): void {
    const { rowsOf, growsBelow = false, dimsMissing = false } = this.#source;
    const isFirst = this.page.peek() === undefined || (dimsMissing && this.shown.peek().length === 0);
    batch(() => {
      this.page.value = page;
      if (isFirst) {
        this.reset(rowsOf(page));
        this.#noteEnd(page);
        return;
      }
      if (dimsMissing) this.#dimMissing(page);
      const firstShown = rowsOf(page).findIndex((row) => this.get(this.keyOf(row)) !== undefined);
      const unknown = rowsOf(page).filter((row) => !this.change(row));
      if (growsBelow) this.append(unknown);
      else if (dimsMissing) this.#wait(firstShown < 0 ? unknown : rowsOf(page).slice(0, firstShown));
      else this.#wait(unknown);
    });
  }

  /** Takes in what the feed told: new rows wait. @returns whether the list must be read again */
  take(frame: FeedFrame): boolean {
    const { feed } = this.#source;
    const found = feed?.rowsOf(frame);
    const page = this.page.peek();
    if (feed === undefined || found === undefined || page === undefined) return false;
    batch(() => {
      if (!isPaused.peek()) this.page.value = feed.after(page, frame);
      this.#wait(found.rows);
    });
    return found.isUntold;
  }

  override showFresh(): void {
    super.showFresh();
    waiting.value = 0;
  }

  /** Reads the next page below. */
  readonly more: ReadMore = async () => {
    const cursor = this.nextCursor.peek();
    if (cursor === null) return undefined;
    const answer = await this.#read(cursor);
    if (!answer.ok) return answer.failure;
    batch(() => {
      this.append(this.#source.rowsOf(answer.body));
      this.#noteEnd(answer.body);
    });
    return undefined;
  };

  /** Reads the list from its top, page by page, as far as `most` rows. @returns them, or why they could not be read */
  async readAll(most: number): Promise<readonly R[] | Failure> {
    const rows: R[] = [];
    let cursor: string | undefined;
    do {
      const answer = await this.#read(cursor);
      if (!answer.ok) return answer.failure;
      rows.push(...this.#source.rowsOf(answer.body));
      cursor = answer.body.nextCursor ?? undefined;
    } while (cursor !== undefined && rows.length < most);
    return rows.slice(0, most);
  }

  async #read(cursor?: string): Promise<Answer<P>> {
    const address = this.#source.address();
    const further =
      cursor === undefined ? '' : `${address.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const answer = await get<P>(address + further);
    if (answer.ok) noteHeard();
    return answer;
  }

  #noteEnd({ nextCursor, searchedTo = null }: P): void {
    this.nextCursor.value = nextCursor;
    this.searchedTo.value = searchedTo;
  }

  /** What is above the last row that a page has would be in the page as well, if it were still there. */
  #dimMissing(page: P): void {
    const found = new Set(this.#source.rowsOf(page).map(this.keyOf));
    const shown = this.shown.peek();
    const last = page.nextCursor === null ? shown.length : shown.findLastIndex(({ key }) => found.has(key));
    for (const { key, isPast } of shown.slice(0, Math.max(0, last))) if (!found.has(key)) isPast.value = true;
  }

  /** What was told may not be written yet: it goes on waiting though a reading does not find it. */
  #wait(rows: readonly R[]): void {
    const { feed } = this.#source;
    if (feed === undefined) this.wait(rows);
    else {
      this.wait([...this.fresh.peek(), ...rows]);
      const sorted = this.fresh.peek().toSorted((one, other) => (feed.orderOf(one) > feed.orderOf(other) ? -1 : 1));
      this.wait(sorted.slice(0, MAX_FRESH));
    }
    waiting.value = this.fresh.peek().length;
  }
}

/** The list of an address while a view shows it. @param key what is chosen: another choice is another list */
export function usePagedRows<P extends Page, R>(key: string, source: PageSource<P, R>): PagedRows<P, R> {
  const list = useMemo(() => {
    const make = (before: unknown): PagedRows<P, R> => {
      const made = new PagedRows(source);
      const page = source.dimsMissing === true ? (before as PagedRows<P, R> | undefined)?.page.peek() : undefined;
      if (page !== undefined) made.takePage(page);
      return made;
    };
    // Lists of several pages have the same filter.
    return keptOf(`${source.address().split('?')[0]} ${key}`, make) as PagedRows<P, R>;
  }, [key]);
  useEffect(() => {
    // Each asking would be one more refusal among those that operators look at.
    const isRefused = (): boolean => {
      const failure = list.failure.peek();
      return failure !== undefined && isForbidden(failure);
    };
    const refresh = (): Promise<boolean> => (isPaused.peek() || isRefused() ? Promise.resolve(true) : list.refresh());
    const take = source.feed === undefined ? undefined : (frame: FeedFrame): boolean => list.take(frame);
    void list.refresh();
    const stop = keepFresh({ refresh, take, besideFeedMs: source.besideFeedMs }, source.watch);
    return () => {
      stop();
      waiting.value = 0;
    };
  }, [list]);
  return list;
}
