import { Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, RefObject } from 'preact';
import type { Failure, ReadMore } from '../data/api.ts';
import { ColumnHead, SortedNote, useSorted } from './sorting.tsx';
import { Warning, wordsOf } from './view-states.tsx';

export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  /** Classes of its cells: `number`, `text` for texts of any length; with it `parts` for short ones, `long` for sentences. */
  readonly style?: string;
  /** What its rows are sorted by, if they can be; null comes last. */
  readonly sortBy?: (row: R) => string | number | null;
  /** Whether this column names the row. By default the first one does. */
  readonly isName?: boolean;
}

/** A plain row, or one of a store, which changes in place. */
interface TableRow<R> {
  readonly key: string;
  readonly row: R | Signal<R>;
  /** Whether the row is dimmed. */
  readonly isPast?: boolean | Signal<boolean>;
}

interface Look<R> {
  readonly columns: readonly Column<R>[];
  /** Additional classes of a row. */
  readonly styleOf?: ((row: R) => string) | undefined;
  /** What to show below a row. */
  readonly detailOf?: ((row: R) => ComponentChildren) | undefined;
}

interface Props<R> extends Look<R> {
  readonly caption: string;
  readonly rows: readonly TableRow<R>[];
  /** Set if only some rows of a long list are drawn: which ones, and how many pixels stand for the others. */
  readonly drawn?: RowWindow | undefined;
  readonly box?: RefObject<HTMLDivElement | null>;
  /** Whether the list continues beyond the loaded rows. */
  readonly isPart?: boolean;
  /** Shown below the rows. */
  readonly children?: ComponentChildren;
}

interface RowWindow {
  readonly count: number;
  readonly first: number;
  readonly before: number;
  readonly after: number;
}

/** A table. If there is no room for its columns, each row becomes a card; table.css says how much room a number of columns needs. */
export function Table<R>({
  caption,
  columns,
  rows: found,
  isPart = false,
  styleOf,
  detailOf,
  drawn,
  box,
  children,
}: Props<R>) {
  const sorted = useSorted<R, TableRow<R>>(columns, found);
  // The drawn part of a long list is already in order.
  const rows = drawn === undefined ? sorted : found;
  return (
    <div ref={box} class={drawn === undefined ? 'table' : 'table lines'} data-columns={Math.min(7, columns.length)}>
      <table aria-rowcount={drawn && drawn.count + 1}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr aria-rowindex={drawn && 1}>
            {columns.map((column) => (
              <ColumnHead key={column.title} column={column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn && <Spacer height={drawn.before} />}
          {rows.map(({ key, row, isPast = false }, index) => (
            <Row
              key={key}
              {...{ id: key, row, isPast, columns, styleOf, detailOf }}
              position={drawn && drawn.first + index + 2}
            />
          ))}
          {drawn && <Spacer height={drawn.after} />}
        </tbody>
      </table>
      {isPart && <SortedNote columns={columns} count={drawn?.count ?? rows.length} />}
      {children}
    </div>
  );
}

interface RowProps<R> extends Look<R> {
  readonly id: string;
  readonly row: R | Signal<R>;
  readonly isPast: boolean | Signal<boolean>;
  /** Counted from 1, which is the header. */
  readonly position: number | undefined;
}

/** A separate component, so that a row whose signals change is redrawn without its surroundings. */
function Row<R>({ id, row: rowOrSignal, isPast, columns, styleOf, detailOf, position }: RowProps<R>) {
  const row = rowOrSignal instanceof Signal ? rowOrSignal.value : rowOrSignal;
  const isDimmed = isPast instanceof Signal ? isPast.value : isPast;
  const name = Math.max(
    0,
    columns.findIndex(({ isName }) => isName),
  );
  const detail = detailOf?.(row);
  return (
    <>
      <tr class={[isDimmed ? 'past' : '', styleOf?.(row)].join(' ').trim()} data-row={id} aria-rowindex={position}>
        {columns.map(({ title, cell, style }, index) =>
          index === name ? (
            <th key={title} scope="row" class={style}>
              {cell(row)}
            </th>
          ) : (
            <td key={title} class={style} data-title={title}>
              {cell(row)}
            </td>
          ),
        )}
      </tr>
      {detail !== undefined && detail !== false && (
        <tr class="detail">
          <td colSpan={columns.length}>{detail}</td>
        </tr>
      )}
    </>
  );
}

function Spacer({ height }: { readonly height: number }) {
  return (
    <tr class="spacer" aria-hidden="true">
      <td style={{ height: `${height}px` }} />
    </tr>
  );
}

interface MoreProps {
  /** Where the list continues; null at its end. */
  readonly cursor: string | null;
  readonly more: ReadMore;
  readonly words: string;
  /** Shown before the button. */
  readonly children?: ComponentChildren;
}

/** Loads the next page of a list, if there is one. If that fails, the rows stay and it can be tried again. */
export function More({ cursor, more, words, children }: MoreProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isReading = useSignal(false);
  const read = async (): Promise<void> => {
    if (isReading.peek()) return;
    isReading.value = true;
    failure.value = await more();
    isReading.value = false;
  };
  if (cursor === null) return null;
  const why = failure.value;
  return (
    <div class="more">
      {children}
      {why !== undefined && (
        <p class="problem" role="alert">
          <Warning /> {wordsOf(why)}
        </p>
      )}
      <button type="button" aria-busy={isReading.value} onClick={() => void read()}>
        {why === undefined ? words : 'Try again'}
      </button>
    </div>
  );
}
