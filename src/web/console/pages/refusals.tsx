import { feedFilter, type FilterOf } from '../data/filter.ts';
import { usePagedRows, type PagedRows } from '../data/paged.ts';
import { zone } from '../data/preferences.ts';
import { instantOf, queryText } from '../data/query.ts';
import { countedAfter, toldRefusals } from '../data/refusals.ts';
import { now } from '../data/server-time.ts';
import type { Refusal, RefusalPage } from '../data/shapes.ts';
import { Bars } from '../components/bars.tsx';
import { Card } from '../components/card.tsx';
import { ErrorCode, Parts } from '../components/codes.tsx';
import { ColumnsChart, columnsOf } from '../components/columns-chart.tsx';
import { DownloadRows } from '../components/download.tsx';
import { Choice, FilterForm, Text, useFilter } from '../components/filter-fields.tsx';
import { Fresh } from '../components/freshness.tsx';
import { Matter } from '../components/matters.tsx';
import { Page } from '../components/page.tsx';
import { Moment } from '../components/times.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { More, Table, type Column } from '../components/table.tsx';
import { Empty, Shown } from '../components/view-states.tsx';
import { countText, sumOf } from '../labels/format.ts';

const NAMES = ['code', 'tenantId', 'keyId', 'network', 'from', 'to'] as const;
type Filter = FilterOf<(typeof NAMES)[number]>;

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-15m', 'last 15 min'],
  ['-1h', 'last hour'],
  ['-7d', 'last 7 days'],
];

/** What was refused, and why. The filter is in the address. */
export function RefusalsPage() {
  const { filter, text: key, field, onClear } = useFilter(NAMES);
  const list = usePagedRows<RefusalPage, Refusal>(key, {
    address: () => `/api/operator/refusals${queryText({ ...asked(filter), limit: '100' })}`,
    rowsOf: ({ refusals }) => refusals,
    keyOf: ({ requestId }) => requestId,
    watch: { topics: ['counts', 'refusals'], filter: feedFilter({ tenantId: filter.tenantId, keyId: filter.keyId }) },
    feed: {
      rowsOf: (frame) => (frame.type === 'refusals' ? toldRefusals(filter, frame) : undefined),
      after: (page, frame) => (frame.type === 'refusals' ? countedAfter(page, filter, frame) : page),
      orderOf: ({ at, requestId }) => `${at} ${requestId}`,
    },
  });
  return (
    <Page title="Refusals">
      <div class="title-row">
        <h1>Refusals</h1>
        <Fresh count={list.fresh.value.length} onShow={() => list.showFresh()} />
      </div>
      <FilterForm onClear={onClear} isSavable>
        <Text label="Code" {...field('code')} isFirst />
        <Text label="Tenant" suggest="tenant" {...field('tenantId')} />
        <Text label="Key" suggest="key" {...field('keyId')} />
        <Text label="Network" {...field('network')} />
        <Choice label="Time" none="last 24 h" values={TIMES} {...field('from')} />
      </FilterForm>
      <SavedViews />
      <DownloadRows
        what="refusals"
        list={list}
        columns={[
          'requestId',
          'at',
          'code',
          'status',
          'route',
          'tenantId',
          'keyId',
          'subject',
          'origin',
          'network',
          'sentence',
        ]}
      />
      <Shown key={key} resource={{ body: list.page, failure: list.failure }} what="refusals">
        {(page) => <Found page={page} list={list} filter={filter} />}
      </Shown>
    </Page>
  );
}

/** Converts the filter for the API, which takes instants. Without a start it searches the last day. */
function asked({ from, to, ...filter }: Filter): Filter {
  const atMs = now.peek();
  return { ...filter, from: from && instantOf(from, atMs), to: to && instantOf(to, atMs) };
}

interface FoundProps {
  readonly page: RefusalPage;
  readonly list: PagedRows<RefusalPage, Refusal>;
  readonly filter: Filter;
}

function Found({
  page: { counted, kept, series, seriesBy, isCounted, isPartial, searchedTo },
  list,
  filter,
}: FoundProps) {
  const rows = list.shown.value;
  const all = sumOf(counted);
  const notKept = Math.max(0, all - sumOf(kept));
  return (
    <>
      {isPartial && (
        <Matter degree="watch">
          The database is away: these are what one process refused last, and nothing is counted.
        </Matter>
      )}
      {!isCounted && !isPartial && (
        <p class="soft">There is too much to add up in that time: choose a shorter one, or one tenant.</p>
      )}
      {all > 0 && (
        <Card title={`${countText(all)} refused`}>
          <div class="counts">
            <Bars
              columns={['Code', 'Refusals']}
              bars={Object.entries(counted).map(([code, count]) => ({
                label: code,
                words: <ErrorCode code={code} />,
                count,
                href: `/console/refusals${queryText({ ...filter, code })}`,
              }))}
            />
            {seriesBy !== null && series.length > 1 && (
              <ColumnsChart title={`Refusals by the ${seriesBy}`} columns={columnsOf(series, seriesBy, zone.value)} />
            )}
          </div>
          <p class="soft">
            Counted in whole minutes or hours{filter.network === undefined ? '' : ', of all networks'}.
            {notKept > 0 &&
              ` ${countText(notKept)} are counted only: of a flood the first of each code and second are kept, and the ids of the others lead to their minute.`}
          </p>
        </Card>
      )}
      {rows.length === 0 ? (
        <None isFiltered={queryText(filter) !== ''} />
      ) : (
        <Table
          caption="Refusals, the newest first"
          columns={COLUMNS}
          rows={rows}
          isPart={list.nextCursor.value !== null}
        />
      )}
      {typeof searchedTo === 'string' && (
        <p class="soft">
          Looked back as far as <Moment at={searchedTo} />.
        </p>
      )}
      <More cursor={list.nextCursor.value} more={list.more} words="Older refusals" />
    </>
  );
}

function None({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No refusal is like that" link={['/console/refusals', 'See all of the last 24 h']} />
  ) : (
    <Empty title="Nothing was refused in the last 24 h">
      <p>
        <a href="/console/refusals?from=-7d">Look 7 days back</a>, or paste a request id into the search (<kbd>/</kbd>).
      </p>
    </Empty>
  );
}

const COLUMNS: readonly Column<Refusal>[] = [
  { title: 'Time', sortBy: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  {
    title: 'Code',
    sortBy: ({ code }) => code,
    style: 'code-cell',
    isName: true,
    cell: ({ requestId, code }) => (
      <a href={`/console/refusals/${requestId}`}>
        <ErrorCode code={code} />
      </a>
    ),
  },
  { title: 'Why', style: 'text long', cell: ({ sentence }) => sentence },
  {
    title: 'Key',
    sortBy: ({ tenantId, keyId }) => keyId && `${tenantId}/${keyId}`,
    style: 'text',
    cell: ({ tenantId, keyId }) => (keyId === null || tenantId === null ? keyId : `${tenantId}/${keyId}`),
  },
  {
    title: 'Network',
    style: 'text parts',
    sortBy: ({ network }) => network,
    cell: ({ network }) =>
      network !== null && (
        <code>
          <Parts text={network} />
        </code>
      ),
  },
];
