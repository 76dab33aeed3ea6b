import { useLocation } from 'preact-iso';
import type { auditPage, ListedAuditRow } from '../../../protocol/operator/audit.ts';
import { targetPage } from '../data/links.ts';
import { copy } from '../data/dialogs.ts';
import { PagedRows, usePagedRows, type PageSource } from '../data/paged.ts';
import { instantOf, queryText } from '../data/query.ts';
import { now } from '../data/server-time.ts';
import type { Output } from '../data/shapes.ts';
import { DownloadRows } from '../components/download.tsx';
import { AddressChoice, useFilter } from '../components/filter-fields.tsx';
import { FoundList } from '../components/found-list.tsx';
import { Page } from '../components/page.tsx';
import { Standing } from '../components/status-marks.tsx';
import { Moment } from '../components/times.tsx';
import type { Column } from '../components/table.tsx';
import { Parts } from '../components/codes.tsx';
import { Empty } from '../components/view-states.tsx';
import { ACTION_NAMES, actionWords } from '../labels/actions.ts';
import { countText, shortRef } from '../labels/format.ts';

/** The query parameters that are filters. */
const NAMES = ['action', 'actorRef', 'target', 'batchId', 'from', 'tenantId'] as const;

/** What operators did, newest first. */
export function AuditPage() {
  const { path, query, route } = useLocation();
  const { filter: chosen, text } = useFilter(NAMES);
  const address = (from: string | undefined, batches?: 'folded'): string =>
    `/api/operator/audit${queryText({ ...chosen, from, batches })}`;
  const { from } = chosen;
  const fromNow = (): string | undefined => (from === undefined ? undefined : instantOf(from, now.peek()));
  const source: PageSource<Output<typeof auditPage>, ListedAuditRow> = {
    address: () => address(fromNow(), 'folded'),
    rowsOf: ({ rows }) => rows,
    keyOf,
    watch: { topics: ['counts', 'audit'] },
    dimsMissing: true,
  };
  const list = usePagedRows(address(from), source);
  const isFiltered = text !== '';
  const exact = (['actorRef', 'target', 'batchId'] as const).filter((name) => chosen[name] !== undefined);
  return (
    <Page title="Audit">
      <div class="title-row">
        <h1>Audit</h1>
        <AddressChoice name="action" label="Action" values={ACTION_NAMES.map((name) => [name, actionWords(name)])} />
        <AddressChoice
          name="from"
          label="When"
          values={[
            ['-1h', 'last hour'],
            ['-24h', 'last 24 h'],
            ['-7d', 'last 7 days'],
          ]}
        />
        {exact.map((name) => (
          <button
            key={name}
            type="button"
            class="chosen"
            title="Take this filter away"
            onClick={() => route(path + queryText({ ...query, [name]: '' }))}
          >
            {WORDS[name]}{' '}
            <code class="break">
              {name === 'actorRef' ? (list.page.value?.rows[0]?.actor ?? 'one operator') : query[name]}
            </code>{' '}
            ×
          </button>
        ))}
      </div>
      <DownloadRows
        what="audit"
        // The file is evidence, so it lists each part of a batch instead of folding them.
        list={{ readAll: (most) => new PagedRows({ ...source, address: () => address(fromNow()) }).readAll(most) }}
        columns={[
          'at',
          'actor',
          'role',
          'action',
          'target',
          'tenantId',
          'batchId',
          'count',
          'result',
          'reason',
          'requestId',
        ]}
      />
      <FoundList
        what="The audit"
        list={list}
        columns={COLUMNS}
        empty={
          <Empty
            title={isFiltered ? 'Nothing was done that is like that' : 'Nobody has changed anything yet'}
            hint="Ends, keys and logins that operators change are kept here, with who did it and why."
            link={isFiltered ? ['/console/audit', 'See the whole audit'] : undefined}
          />
        }
      />
    </Page>
  );
}

const WORDS = { actorRef: 'by', target: 'of', batchId: 'together:' } as const;

/** One request can have several rows, which differ in their targets. */
function keyOf({ at, action, target, requestId }: ListedAuditRow): string {
  return `${at} ${action} ${target} ${requestId}`;
}

const RESULTS: Readonly<Record<string, 'on' | 'off' | 'bad'>> = { done: 'on', unchanged: 'off', failed: 'bad' };

const COLUMNS: readonly Column<ListedAuditRow>[] = [
  { title: 'When', sortBy: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  {
    title: 'Who',
    style: 'text',
    cell: ({ actor, actorRef, role }) => (
      <>
        {actorRef === null ? actor : <a href={`/console/audit?actorRef=${actorRef}`}>{actor}</a>}{' '}
        <span class="soft">{role?.replaceAll('_', ' ')}</span>
      </>
    ),
  },
  {
    title: 'Did',
    cell: ({ action, count, batchId }) => (
      <>
        {action === 'sessions.end' && count !== null ? (
          `ended ${countText(count)} ${count === 1 ? 'session' : 'sessions'}`
        ) : (
          <>
            {actionWords(action)}
            {count !== null && `: ${countText(count)}`}
          </>
        )}
        {batchId !== null && (
          <>
            {' '}
            <a href={`/console/audit?batchId=${batchId}`}>{action === 'sessions.end' ? 'list them' : 'together'}</a>
          </>
        )}
      </>
    ),
  },
  {
    title: 'To',
    style: 'text parts',
    cell: (row) => {
      const page = targetPage(row);
      const name = (
        <code>
          <Parts text={row.action.startsWith('session.') ? shortRef(row.target) : row.target} />
        </code>
      );
      return page === undefined ? name : <a href={page}>{name}</a>;
    },
  },
  { title: 'Reason', style: 'text long', cell: ({ reason }) => reason },
  {
    title: 'Result',
    cell: ({ result }) =>
      result === null ? (
        <Standing kind="waiting">unknown</Standing>
      ) : (
        <Standing kind={RESULTS[result] ?? 'off'}>{result}</Standing>
      ),
  },
  {
    title: 'Request',
    style: 'text parts',
    cell: ({ requestId }) =>
      requestId === null ? (
        '–'
      ) : (
        <button type="button" class="link code" onClick={() => void copy(requestId, 'Request id')}>
          {requestId}
        </button>
      ),
  },
];
