import { UNTOLD_MS } from '../data/live.ts';
import { usePagedRows } from '../data/paged.ts';
import { now } from '../data/server-time.ts';
import type { CallList, ListedCall } from '../data/shapes.ts';
import { HANGUPS, HangUp, hangupWords } from '../components/calls.tsx';
import { DownloadRows } from '../components/download.tsx';
import { Choice, FilterForm, Text, useFilter } from '../components/filter-fields.tsx';
import { FoundList } from '../components/found-list.tsx';
import { Page } from '../components/page.tsx';
import { CallMark } from '../components/status-marks.tsx';
import { Moment, Span } from '../components/times.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import type { Column } from '../components/table.tsx';
import { Empty } from '../components/view-states.tsx';
import { moneyText } from '../../../protocol/money.ts';
import { agentName, shortRef } from '../labels/format.ts';

const NAMES = ['state', 'tenantId', 'keyId', 'agentId', 'hangup'] as const;

const STATES: readonly (readonly [states: string, words: string])[] = [
  ['creating,open,closing', 'not closed'],
  ['creating', 'creating'],
  ['open', 'open'],
  ['closing', 'closing'],
  ['closed', 'closed'],
];

/** Calls at the provider, newest first, with what each has cost so far. The filter is in the address. */
export function CallsPage() {
  const { text, field, onClear } = useFilter(NAMES);
  const list = usePagedRows<CallList, ListedCall>(`/api/operator/calls${text}`, {
    rowsOf: ({ calls }) => calls,
    keyOf: ({ ref }) => ref,
    watch: { topics: ['counts'] },
    // The feed does not report what calls cost.
    besideFeedMs: UNTOLD_MS,
    dimsMissing: true,
  });
  return (
    <Page title="Calls">
      <div class="title-row">
        <h1>Calls</h1>
      </div>
      <FilterForm onClear={onClear} isSavable>
        <Choice label="State" values={STATES} {...field('state')} />
        <Text label="Tenant" suggest="tenant" {...field('tenantId')} isFirst />
        <Text label="Key" suggest="key" {...field('keyId')} />
        <Text label="Agent" suggest="agent" {...field('agentId')} />
        <Choice label="Hang-up" values={HANGUPS} {...field('hangup')} />
      </FilterForm>
      <SavedViews />
      <DownloadRows
        what="calls"
        list={list}
        columns={[
          'ref',
          'session',
          'tenantId',
          'keyId',
          'agentId',
          'provider',
          'model',
          'state',
          'createdAt',
          'openedAt',
          'closedAt',
          'closeReason',
          'hangup',
          'microDollars',
          'basis',
        ]}
      />
      <FoundList
        what="Calls"
        list={list}
        columns={COLUMNS}
        empty={
          text !== '' ? (
            <Empty title="No call is like that" link={['/console/calls', 'See all calls']} />
          ) : (
            <Empty
              title="There was no call yet"
              hint="Only calls that Switchboard opens at the provider itself are listed, not those that pages open."
            />
          )
        }
      />
    </Page>
  );
}

const COLUMNS: readonly Column<ListedCall>[] = [
  { title: 'Asked for', sortBy: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'State', sortBy: ({ state }) => state, cell: ({ state }) => <CallMark state={state} /> },
  {
    title: 'Tenant / agent',
    sortBy: ({ tenantId, agentId }) => `${tenantId}/${agentId ?? ''}`,
    style: 'text',
    isName: true,
    cell: (call) => <a href={`/console/calls/${call.ref}`}>{agentName(call)}</a>,
  },
  { title: 'Key', sortBy: ({ keyId }) => keyId, style: 'text', cell: ({ keyId }) => keyId ?? '–' },
  {
    title: 'Session',
    cell: ({ session }) => (
      <a href={`/console/sessions/${session}`}>
        <code>{shortRef(session)}</code>
      </a>
    ),
  },
  {
    title: 'Length',
    sortBy: ({ openedAt, closedAt }) =>
      openedAt && (closedAt === null ? now.peek() : Date.parse(closedAt)) - Date.parse(openedAt),
    style: 'number',
    cell: ({ openedAt, closedAt }) => (openedAt === null ? '–' : <Span from={openedAt} to={closedAt} />),
  },
  {
    title: 'Hang-up',
    sortBy: hangupWords,
    style: 'text',
    cell: (call) => <HangUp call={call}>{hangupWords(call)}</HangUp>,
  },
  {
    title: 'Cost',
    sortBy: ({ microDollars }) => microDollars,
    style: 'number',
    cell: ({ microDollars }) => moneyText(microDollars / 1e6),
  },
];
