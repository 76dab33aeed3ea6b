import { useLocation } from 'preact-iso';
import { may, me } from '../data/identity.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { usePagedRows } from '../data/paged.ts';
import { zone } from '../data/preferences.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { now } from '../data/server-time.ts';
import type { UsageReport, UsageRow } from '../data/shapes.ts';
import { askedRange, everyDay, everyHour } from '../data/usage-range.ts';
import { usageHref } from '../data/links.ts';
import { Card } from '../components/card.tsx';
import { ColumnsChart } from '../components/columns-chart.tsx';
import { Download } from '../components/download.tsx';
import { Chips, Choice, FilterForm, Text } from '../components/filter-fields.tsx';
import { Page } from '../components/page.tsx';
import { More } from '../components/table.tsx';
import { Empty, Shown } from '../components/view-states.tsx';
import { moneyText } from '../../../protocol/money.ts';
import { clockText, countText } from '../labels/format.ts';
import { Reconciled } from './usage/reconciled.tsx';
import { UsageTable } from './usage/usage-table.tsx';

const PATH = '/api/operator/usage';
const BYS = ['subject', 'tenant', 'key', 'agent', 'session'] as const;
type By = (typeof BYS)[number];

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-7d', 'last 7 days'],
  ['-30d', 'last 30 days'],
  ['-90d', 'last 90 days'],
];

/** Who used what. The choices are in the address. */
export function UsagePage() {
  const { query, route } = useLocation();
  const by: By = BYS.find((each) => each === query['by']) ?? 'subject';
  // By session, usage is added up only for the last day.
  const range = by === 'session' ? {} : { from: query['from'], to: query['to'] };
  const tenantId = query['tenantId'];
  const chosen = { by, ...range, tenantId };
  const key = queryText(chosen);
  const isToday = by !== 'session' && !range.from && !range.to;
  const list = usePagedRows<UsageReport, UsageRow>(key, {
    address: () => PATH + queryText({ by, ...askedRange(range, now.peek()), tenantId, limit: '50' }),
    rowsOf: ({ rows }) => rows,
    keyOf: ({ id }) => id,
    watch: { topics: ['counts'] },
    besideFeedMs: UNTOLD_MS,
    growsBelow: true,
  });
  const set = (name: string) => (value: string) =>
    route(usageHref({ ...chosen, sorted: query['sorted'], [name]: value.trim() }));
  return (
    <Page title="Usage">
      <h1>Usage</h1>
      <FilterForm>
        <Chips label="By" value={by} values={BYS.map((each) => [each, each] as const)} onSet={set('by')} />
        {by === 'session' ? (
          <span class="filter-note">of the last 24 h</span>
        ) : (
          <>
            <Choice label="Time" none="today" values={TIMES} value={query['from'] ?? ''} onSet={set('from')} />
            <Day label="From" value={query['from']} onSet={set('from')} />
            <Day label="To" value={query['to']} onSet={set('to')} />
          </>
        )}
        <Text label="Tenant" suggest="tenant" value={tenantId ?? ''} onSet={set('tenantId')} isFirst />
      </FilterForm>
      <Shown key={key} resource={{ body: list.page, failure: list.failure }} what="usage">
        {(report) => (
          <>
            <Card title={totalTitle(report, isToday)} aside={<span class="soft">{zoneNote(by)}</span>}>
              {isToday || by === 'session' ? (
                <div class="hours">
                  <Hours tenantId={tenantId} />
                </div>
              ) : (
                <Series series={everyDay(report.series, range, now.peek())} nameOf={(at) => at} />
              )}
            </Card>
            {list.shown.value.length === 0 ? (
              <None isToday={isToday && tenantId === undefined} by={by} />
            ) : (
              <UsageTable
                {...{ by, chosen, open: query['row'], rows: list.shown.value.map(({ row }) => row.value) }}
                unattributed={report.unattributed}
                total={report.total}
                isPart={list.nextCursor.value !== null}
              />
            )}
            <More cursor={list.nextCursor.value} more={list.more} words="Who used less" />
            <Download
              what="usage"
              words="Download all of it by day, subject, key and agent"
              filters={() => ({ ...askedRange(range, now.peek()), tenantId })}
            />
          </>
        )}
      </Shown>
      {/* Shown only once the table above has loaded, which would otherwise push it down. */}
      {may('see-installation') && (list.page.value ?? list.failure.value) !== undefined && <Reconciled />}
    </Page>
  );
}

function totalTitle({ total }: UsageReport, isToday: boolean): string {
  return `${isToday ? 'Today: ' : ''}${moneyText(total.dollars)}, ${countText(total.tokens)} tokens`;
}

/** Says which time zone the days are in. */
function zoneNote(by: By): string {
  const { timeZone } = me.value ?? {};
  return by === 'session' || timeZone === undefined ? '' : `days of ${timeZone}`;
}

/** The usage of a single day by hour. */
function Hours({ tenantId }: { readonly tenantId: string | undefined }) {
  const path = PATH + queryText({ by: 'tenant', span: 'hour', tenantId, limit: '1' });
  const resource = useResource<UsageReport>(path, { topics: ['counts'] });
  const nameOf = (at: string): string => clockText(Date.parse(at), zone.value).slice(0, 5);
  return (
    <Shown resource={resource} what="usage by the hour">
      {({ series }) => <Series series={everyHour(series, now.peek())} nameOf={nameOf} isByHour />}
    </Shown>
  );
}

interface SeriesProps {
  readonly series: UsageReport['series'];
  readonly nameOf: (at: string) => string;
  readonly isByHour?: boolean;
}

function Series({ series, nameOf, isByHour = false }: SeriesProps) {
  const costs = series.some(({ dollars }) => dollars > 0);
  if (!costs && series.every(({ tokens }) => tokens === 0)) return <p class="soft">Nothing was used.</p>;
  return (
    <ColumnsChart
      title={`${costs ? 'Dollars' : 'Tokens'} by the ${isByHour ? 'hour, in the last 24 h' : 'day'}`}
      write={costs ? moneyText : countText}
      columns={series.map(({ at, tokens, dollars }) => ({
        label: nameOf(at),
        amount: costs ? dollars : tokens,
        text: costs ? `${moneyText(dollars)}, ${countText(tokens)} tokens` : `${countText(tokens)} tokens`,
      }))}
    />
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onSet: (value: string) => void;
}

function Day({ label, value = '', onSet }: DayProps) {
  const isDay = /^\d{4}-/.test(value);
  return (
    <label class="day">
      {label}{' '}
      <input
        type="date"
        class={isDay ? 'set' : ''}
        value={isDay ? value : ''}
        onChange={({ currentTarget }) => onSet(currentTarget.value)}
      />
    </label>
  );
}

function None({ isToday, by }: { readonly isToday: boolean; readonly by: By }) {
  return (
    <Empty title={isToday ? 'Nothing was used yet' : 'Nothing was used by that in that time'}>
      <p>
        {isToday ? (
          <>
            Usage is there once a session tells of it.{' '}
            {by !== 'session' && <a href={usageHref({ by, from: '-7d' })}>Look 7 days back</a>}
          </>
        ) : (
          <a href={usageHref({ by })}>See today</a>
        )}
      </p>
    </Empty>
  );
}
