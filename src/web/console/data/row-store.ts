/** The rows of a list by key. A row changes in place and never moves; new rows wait until somebody asks for them. */
import { batch, signal, type Signal } from '@preact/signals';

export interface Row<R> {
  readonly key: string;
  readonly row: Signal<R>;
  /** Whether the row has left the list. It stays in place, dimmed, until the list is read anew. */
  readonly isPast: Signal<boolean>;
}

export class RowStore<R> {
  readonly shown = signal<readonly Row<R>[]>([]);
  /** New rows that are waiting, without duplicates and without rows that are shown. */
  readonly fresh = signal<readonly R[]>([]);
  readonly keyOf: (row: R) => string;
  readonly #rows = new Map<string, Row<R>>();

  constructor(keyOf: (row: R) => string) {
    this.keyOf = keyOf;
  }

  /** The row that is shown under a key. */
  get(key: string): Row<R> | undefined {
    return this.#rows.get(key);
  }

  /** Shows these rows instead of all others. */
  reset(rows: readonly R[]): void {
    batch(() => {
      this.#rows.clear();
      this.shown.value = this.#adopt(rows);
      this.fresh.value = [];
    });
  }

  /** Changes a row in place, if it is shown. @returns whether it is shown */
  change(row: R, isPast = false): boolean {
    const known = this.#rows.get(this.keyOf(row));
    if (known === undefined) return false;
    batch(() => {
      if (differ(known.row.peek(), row)) known.row.value = row;
      known.isPast.value = isPast;
    });
    return true;
  }

  /** Lets these new rows wait, instead of those that were waiting. */
  wait(rows: readonly R[]): void {
    this.fresh.value = this.#unknown(rows);
  }

  /** Puts the new rows on top. Rows move only when the operator asks for it. */
  showFresh(): void {
    batch(() => {
      this.shown.value = [...this.#adopt(this.fresh.peek()), ...this.shown.peek()];
      this.fresh.value = [];
    });
  }

  /** Appends rows that are not shown yet. */
  append(rows: readonly R[]): void {
    batch(() => {
      this.shown.value = [...this.shown.peek(), ...this.#adopt(rows)];
      this.wait(this.fresh.peek());
    });
  }

  #adopt(rows: readonly R[]): readonly Row<R>[] {
    return this.#unknown(rows).map((row) => {
      const adopted = { key: this.keyOf(row), row: signal(row), isPast: signal(false) };
      this.#rows.set(adopted.key, adopted);
      return adopted;
    });
  }

  #unknown(rows: readonly R[]): readonly R[] {
    const unknown = new Map(rows.map((row) => [this.keyOf(row), row]));
    return [...unknown].flatMap(([key, row]) => (this.#rows.has(key) ? [] : [row]));
  }
}

/** Rows are JSON from the API, so equal text means equal rows. */
export function differ(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
