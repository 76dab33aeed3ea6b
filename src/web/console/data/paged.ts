/** A list that is read in pages. The first page is read again and again, the others once. */
import { batch, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { get, isPassing, type Answer, type Failure, type ReadMore } from './api.ts';
import type { Watch } from './feed.ts';
import { isPaused, keepFresh, noteHeard, unlessRefused, waiting } from './live.ts';
import { createKept } from './places.ts';
import { RowStore } from './row-store.ts';

interface Page {
  readonly nextCursor: string | null;
  readonly searchedTo?: string | null;
}

export interface PageSource<P extends Page, R> {
  /** The address of the first page. Times in it may move. */
  readonly address: () => string;
  readonly rowsOf: (page: P) => readonly R[];
  readonly keyOf: (row: R) => string;
  readonly watch: Watch;
  /** How often the first page is read in addition to the feed. */
  readonly besideFeedMs?: number;
  /** Whether new rows are appended at the bottom. Otherwise they wait until somebody asks for them. */
  readonly growsBelow?: boolean;
  /** Whether rows that left the list are dimmed, and whether the list is shown at once when somebody comes back to it. */
  readonly dimsMissing?: boolean;
  /** Set if the feed itself reports new rows. */
  readonly feed?: FeedRows<P, R>;
}

/** How a list takes rows from the feed. */
interface FeedRows<P, R> {
  /** The frame's new rows, newest first, and whether the list must be read because there may be more; undefined for other frames. */
  readonly rowsOf: (frame: FeedFrame) => { readonly rows: readonly R[]; readonly isUntold: boolean } | undefined;
  /** What a page contains besides its rows, after a frame. */
  readonly after: (page: P, frame: FeedFrame) => P;
  /** What rows are sorted by, greatest first. */
  readonly orderOf: (row: R) => string;
}

/** The most new rows that wait, if the feed reports them. */
const MAX_FRESH = 1000;
const keptOf = createKept<unknown>();

export class PagedRows<P extends Page, R> extends RowStore<R> {
  /** The most recent first page, for what it contains besides its rows. */
  readonly page = signal<P | undefined>(undefined);
  readonly nextCursor = signal<string | null>(null);
  /** How far back the server searched, if the last page is short because the search was cut off. */
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

  /** Applies a newly read first page. */
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

  /** Applies a frame of the feed; new rows wait. @returns whether the list must be read again */
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

  /** Reads the list from the top, page by page, up to `most` rows. @returns the rows, or why they could not be read */
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

  /** Dims rows that are missing from the page although they are above its last row: if they were still in the list, the page would have them. */
  #dimMissing(page: P): void {
    const found = new Set(this.#source.rowsOf(page).map(this.keyOf));
    const shown = this.shown.peek();
    const last = page.nextCursor === null ? shown.length : shown.findLastIndex(({ key }) => found.has(key));
    for (const { key, isPast } of shown.slice(0, Math.max(0, last))) if (!found.has(key)) isPast.value = true;
  }

  /** Rows from the feed keep waiting even if a reading does not have them, because they may not have been written yet. */
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

type ListSource<P extends Page, R> = Omit<PageSource<P, R>, 'address'> & Partial<Pick<PageSource<P, R>, 'address'>>;

/** The list of an address while a view shows it. @param key what is chosen, or the address; another one is another list */
export function usePagedRows<P extends Page, R>(key: string, list: ListSource<P, R>): PagedRows<P, R> {
  const source = { address: () => key, ...list };
  const rows = useMemo(() => {
    const make = (before: unknown): PagedRows<P, R> => {
      const made = new PagedRows(source);
      const page = source.dimsMissing === true ? (before as PagedRows<P, R> | undefined)?.page.peek() : undefined;
      if (page !== undefined) made.takePage(page);
      return made;
    };
    // The path is part of the name, because lists of several pages may have the same filter.
    return keptOf(`${source.address().split('?')[0]} ${key}`, make) as PagedRows<P, R>;
  }, [key]);
  useEffect(() => {
    const refresh = unlessRefused(rows.failure, () => rows.refresh());
    const take = source.feed === undefined ? undefined : (frame: FeedFrame): boolean => rows.take(frame);
    void rows.refresh();
    const stop = keepFresh({ refresh, take, besideFeedMs: source.besideFeedMs }, source.watch);
    return () => {
      stop();
      waiting.value = 0;
    };
  }, [rows]);
  return rows;
}
