/** Sorts tables by a column. Only loaded rows are sorted, and the order is kept in the address. */
import { Signal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { queryText } from '../data/query.ts';

interface SortableColumn<R> {
  readonly title: string;
  readonly style?: string;
  /** What its rows are sorted by, if they can be; null comes last. */
  readonly sortBy?: (row: R) => Value;
}

interface Sortable<R> {
  readonly row: R | Signal<R>;
}

/** The title of the column in the address, and whether the greatest value comes first. */
function useOrder(): { readonly title: string; readonly isDescending: boolean } {
  const sorted = useLocation().query['sorted'] ?? '';
  return { title: sorted.replace(/^-/, ''), isDescending: sorted.startsWith('-') };
}

/** The rows sorted by the column in the address; in their original order if there is none. Rows without a value come last. */
export function useSorted<R, T extends Sortable<R>>(
  columns: readonly SortableColumn<R>[],
  rows: readonly T[],
): readonly T[] {
  const { title, isDescending } = useOrder();
  const sortBy = columns.find((column) => column.title === title)?.sortBy;
  if (sortBy === undefined) return rows;
  // A row that changes keeps its place until the list is redrawn.
  return sortRows(rows, ({ row }) => sortBy(row instanceof Signal ? row.peek() : row), isDescending);
}

/** Sorts rows by value, comparing numbers within texts as numbers. The sort is stable, and rows with null come last in either direction. */
export function sortRows<T>(rows: readonly T[], valueOf: (row: T) => Value, isDescending: boolean): readonly T[] {
  const valued = rows.map((row) => ({ row, value: valueOf(row) }));
  const sign = isDescending ? -1 : 1;
  return valued.toSorted((one, other) => order(one.value, other.value, sign)).map(({ row }) => row);
}

type Value = string | number | null;

function order(one: Value, other: Value, sign: 1 | -1): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === 'number' && typeof other === 'number') return sign * (one - other);
  return sign * String(one).localeCompare(String(other), 'en', { numeric: true });
}

/** The head of a column. A click sorts by it, the next one reverses the order, and a third restores the original order. */
export function ColumnHead<R>({ column: { title, style, sortBy } }: { readonly column: SortableColumn<R> }) {
  const { path, query, route } = useLocation();
  const order = useOrder();
  if (title === '') return <td class={style} />;
  if (sortBy === undefined)
    return (
      <th scope="col" class={style}>
        {title}
      </th>
    );
  const isSorted = order.title === title;
  const next = !isSorted ? title : order.isDescending ? undefined : `-${title}`;
  return (
    <th scope="col" class={style} aria-sort={isSorted ? (order.isDescending ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort" onClick={() => route(path + queryText({ ...query, sorted: next }))}>
        {title}
        {isSorted && <span aria-hidden="true">{order.isDescending ? ' ↓' : ' ↑'}</span>}
      </button>
    </th>
  );
}

/** Says that only the loaded rows are sorted, if there are more. */
export function SortedNote<R>({
  columns,
  count,
}: {
  readonly columns: readonly SortableColumn<R>[];
  readonly count: number;
}) {
  const { title } = useOrder();
  if (!columns.some((column) => column.title === title && column.sortBy !== undefined)) return null;
  return (
    <p class="soft">
      Sorted by {title} among the {count} loaded; there are more.
    </p>
  );
}
