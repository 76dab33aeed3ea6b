import type { ComponentChildren } from 'preact';
import { isPassing, type Failure, type ReadMore } from '../data/api.ts';
import type { ListRows } from '../data/list.ts';
import { Fresh } from './fresh.tsx';
import { More } from './more.tsx';
import { Moment } from './moments.tsx';
import { Table, type Column } from './table.tsx';
import { Failed, Loading } from './view-states.tsx';

interface Props<R> {
  readonly what: string;
  readonly list: {
    readonly rows: ListRows<R>;
    readonly isLoaded: boolean;
    readonly failure: Failure | undefined;
    readonly more: ReadMore;
  };
  readonly columns: readonly Column<R>[];
  /** Shown where there is none. */
  readonly empty: ComponentChildren;
}

/** A list as it was read: its rows, or why there are none. */
export function FoundList<R>({ what, list, columns, empty }: Props<R>) {
  const { rows, isLoaded, failure, more } = list;
  if (failure !== undefined && !(isLoaded && isPassing(failure))) return <Failed failure={failure} what={what} />;
  if (!isLoaded) return <Loading rows={8} />;
  const { value: searchedTo } = rows.searchedTo;
  return (
    <>
      <Fresh count={rows.fresh.value.length} onShow={() => rows.showFresh()} />
      {rows.shown.value.length === 0 ? empty : <Table caption={what} columns={columns} rows={rows.shown.value} />}
      <More cursor={rows.nextCursor.value} more={more} words="Older">
        {searchedTo !== null && (
          <p>
            Looked back to <Moment at={searchedTo} />.
          </p>
        )}
      </More>
    </>
  );
}
