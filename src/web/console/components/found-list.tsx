import type { ComponentChildren } from 'preact';
import { isForbidden } from '../data/api.ts';
import type { PagedRows } from '../data/paged.ts';
import type { RowStore } from '../data/row-store.ts';
import { Fresh } from './freshness.tsx';
import { Moment } from './times.tsx';
import { More, Table, type Column } from './table.tsx';
import { Failed, Loading, Outdated } from './view-states.tsx';

interface Props<R> {
  readonly what: string;
  readonly list: RowStore<R> &
    Pick<PagedRows<never, R>, 'failure' | 'nextCursor' | 'searchedTo' | 'more'> & {
      readonly page: { readonly value: unknown };
    };
  readonly columns: readonly Column<R>[];
  /** Shown if there are no rows. */
  readonly empty: ComponentChildren;
}

/** A list as it was read: its rows, or why there are none. */
export function FoundList<R>({ what, list, columns, empty }: Props<R>) {
  const failure = list.failure.value;
  const isLoaded = list.page.value !== undefined;
  if (failure !== undefined && (!isLoaded || isForbidden(failure))) return <Failed failure={failure} what={what} />;
  if (!isLoaded) return <Loading rows={8} />;
  const rows = list.shown.value;
  const searchedTo = list.searchedTo.value;
  return (
    <>
      <Outdated failure={failure} />
      <Fresh count={list.fresh.value.length} onShow={() => list.showFresh()} />
      {rows.length === 0 ? (
        empty
      ) : (
        <Table caption={what} columns={columns} rows={rows} isPart={list.nextCursor.value !== null} />
      )}
      <More cursor={list.nextCursor.value} more={list.more} words="Older">
        {searchedTo !== null && (
          <p>
            Looked back to <Moment at={searchedTo} />.
          </p>
        )}
      </More>
    </>
  );
}
