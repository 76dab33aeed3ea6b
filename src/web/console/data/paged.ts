/** A list that comes in pages under one address: the first is read again and again, further ones once. */
import { batch, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { get, isPassing, type Answer, type Failure, type ReadMore } from './api.ts';
import type { Watch } from './feed.ts';
import { isPaused, keepFresh, noteHeard, UNTOLD_MS, waiting } from './live.ts';

interface Page {
  readonly nextCursor: string | null;
}

interface Kind<P extends Page, R> {
  /** The address of the first page, whose times may move. */
  readonly asked: () => string;
  readonly rowsOf: (page: P) => readonly R[];
  readonly idOf: (row: R) => string;
  /** Whether new rows wait until somebody asks for them; else they come below. */
  readonly isNewestFirst: boolean;
  /** Where the feed tells of it. */
  readonly told?: Telling<P, R>;
}

/** How a list follows the feed. */
interface Telling<P, R> {
  readonly watch: Watch;
  /** New rows of a frame, the newest first, and whether it must be read which others there are; undefined of other frames. */
  readonly rowsOf: (frame: FeedFrame) => { readonly rows: readonly R[]; readonly isUntold: boolean } | undefined;
  /** What a page says beside its rows, after a frame. */
  readonly after: (page: P, frame: FeedFrame) => P;
  /** By what rows are sorted, the greatest first. */
  readonly orderOf: (row: R) => string;
}

/** New rows that wait at most. */
const MOST_FRESH = 1000;

/** Rows change in their places and never move. */
export class PagedRows<P extends Page, R> {
  /** The newest first page: what it says beside its rows. */
  readonly page = signal<P | undefined>(undefined);
  readonly rows = signal<readonly R[]>([]);
  readonly fresh = signal<readonly R[]>([]);
  readonly nextCursor = signal<string | null>(null);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly #kind: Kind<P, R>;

  constructor(kind: Kind<P, R>) {
    this.#kind = kind;
  }

  /** Reads the first page. @returns whether the service answered */
  async refresh(): Promise<boolean> {
    const answer = await this.#read('');
    this.failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return !isPassing(answer.failure);
    const page = answer.body;
    batch(() => {
      const isFirst = this.page.peek() === undefined;
      this.page.value = page;
      this.#take(page, isFirst);
      if (isFirst) this.nextCursor.value = page.nextCursor;
    });
    return true;
  }

  /** Takes in what the feed told: new rows wait. @returns whether it must be read again */
  take(frame: FeedFrame): boolean {
    const { told } = this.#kind;
    const found = told?.rowsOf(frame);
    if (told === undefined || found === undefined || this.page.peek() === undefined) return false;
    batch(() => {
      if (!isPaused.peek()) this.page.value = told.after(this.page.peek() as P, frame);
      this.#wait(this.#unknown(found.rows));
    });
    return found.isUntold;
  }

  /** Puts the new rows on top. */
  showFresh(): void {
    batch(() => {
      this.rows.value = [...this.fresh.peek(), ...this.rows.peek()];
      this.fresh.value = [];
      waiting.value = 0;
    });
  }

  /** Reads the next page below. */
  readonly more: ReadMore = async () => {
    const cursor = this.nextCursor.peek();
    if (cursor === null) return undefined;
    const answer = await this.#read(`&cursor=${encodeURIComponent(cursor)}`);
    if (!answer.ok) return answer.failure;
    batch(() => {
      this.rows.value = [...this.rows.peek(), ...this.#unknown(this.#kind.rowsOf(answer.body))];
      this.nextCursor.value = answer.body.nextCursor;
    });
    return undefined;
  };

  async #read(further: string): Promise<Answer<P>> {
    const answer = await get<P>(this.#kind.asked() + further);
    if (answer.ok) noteHeard();
    return answer;
  }

  #take(page: P, isFirst: boolean): void {
    const { rowsOf, idOf, isNewestFirst } = this.#kind;
    const now = new Map(rowsOf(page).map((row) => [idOf(row), row]));
    const unknown = this.#unknown(rowsOf(page));
    const known = this.rows.peek().map((row) => now.get(idOf(row)) ?? row);
    const waits = isNewestFirst && !isFirst;
    this.rows.value = waits ? known : [...known, ...unknown];
    if (waits) this.#wait(unknown);
  }

  /** What was told may not be written yet: what waits goes on waiting though a reading does not find it. */
  #wait(unknown: readonly R[]): void {
    const { idOf, told } = this.#kind;
    if (told === undefined) this.fresh.value = unknown;
    else {
      const all = new Map([...this.fresh.peek(), ...unknown].map((row) => [idOf(row), row]));
      const sorted = [...all.values()].toSorted((one, other) => (told.orderOf(one) > told.orderOf(other) ? -1 : 1));
      this.fresh.value = sorted.slice(0, MOST_FRESH);
    }
    waiting.value = this.fresh.peek().length;
  }

  #unknown(rows: readonly R[]): readonly R[] {
    const { idOf } = this.#kind;
    const known = new Set(this.rows.peek().map(idOf));
    return rows.filter((row) => !known.has(idOf(row)));
  }
}

/** The list of an address while a view shows it. @param key what is chosen: another choice is another list */
export function usePagedRows<P extends Page, R>(key: string, kind: Kind<P, R>): PagedRows<P, R> {
  const list = useMemo(() => new PagedRows(kind), [key]);
  useEffect(() => {
    void list.refresh();
    const refresh = (): Promise<boolean> => (isPaused.peek() ? Promise.resolve(true) : list.refresh());
    const stop =
      kind.told === undefined
        ? keepFresh({ refresh, besideFeedMs: UNTOLD_MS }, { topics: ['counts'] })
        : keepFresh({ refresh, take: (frame) => list.take(frame) }, kind.told.watch);
    return () => {
      stop();
      waiting.value = 0;
    };
  }, [list]);
  return list;
}
