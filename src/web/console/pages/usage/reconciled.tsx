import { queryText } from '../../data/query.ts';
import { useResource } from '../../data/resource.ts';
import type { ReconciledDay, Reconciliation } from '../../data/shapes.ts';
import { Card } from '../../components/card.tsx';
import { Moment } from '../../components/times.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Problem, Shown } from '../../components/view-states.tsx';
import { moneyText } from '../../../../protocol/money.ts';
import { countText } from '../../labels/format.ts';
import { DAY_MS } from '../../data/durations.ts';

/** The API counts no further. */
const MAX_COUNTED = 1000;

/** What the state of a day means. */
const MEANINGS: Readonly<Record<ReconciledDay['state'], string>> = {
  equal: '',
  explained: 'What differs was estimated here, or is of calls that pages opened themselves.',
  unexplained: 'Estimates and calls that pages opened themselves do not explain what differs.',
  unreadable: 'The provider’s answer does not say what is asked.',
};

const COLUMNS: readonly Column<ReconciledDay>[] = [
  { title: 'Day (UTC)', cell: ({ day }) => day, isName: true },
  { title: 'State', cell: (reconciled) => <State {...reconciled} /> },
  { title: 'Counted here', cell: ({ dollars }) => moneyText(dollars.ours), style: 'number' },
  {
    title: 'Provider',
    cell: ({ dollars }) => (dollars.theirs === null ? '–' : moneyText(dollars.theirs)),
    style: 'number',
  },
  { title: 'Estimated', cell: ({ dollars }) => moneyText(dollars.estimated), style: 'number' },
  { title: 'Asked', cell: ({ askedAt }) => <Moment at={askedAt} /> },
];

/** What Switchboard counted beside what the provider bills; or how to set this up. */
export function Reconciled() {
  const resource = useResource<Reconciliation>('/api/operator/reconciliation', { topics: ['counts'] });
  return (
    <Card title="Counted here, and billed by the provider">
      <Shown resource={resource} what="what the provider bills">
        {({ enabled, isOfProject, days }) => (
          <>
            {enabled && !isOfProject && (
              <p class="soft">
                Without <code>OPENAI_PROJECT</code>, what the provider bills includes what others in the organization
                use.
              </p>
            )}
            {days.length === 0 ? <NoDays isEnabled={enabled} /> : <Days days={days} />}
          </>
        )}
      </Shown>
    </Card>
  );
}

function NoDays({ isEnabled }: { readonly isEnabled: boolean }) {
  return (
    <p class="soft">
      {isEnabled ? (
        'The provider is asked each morning from six o’clock on (UTC).'
      ) : (
        <>
          With <code>OPENAI_ADMIN_KEY</code> what was counted here is compared with OpenAI’s bill every morning.
        </>
      )}
    </p>
  );
}

function Days({ days }: { readonly days: readonly ReconciledDay[] }) {
  const rows = days.map((row) => ({ key: `${row.day} ${row.upstream}`, row }));
  return <Table caption="Days" columns={COLUMNS} rows={rows} detailOf={detailOf} />;
}

function State({ state, dollars }: ReconciledDay) {
  if (state === 'equal' || state === 'explained') return <>{state}</>;
  const worth = state === 'unexplained' ? `, ${moneyText(dollars.unexplained)}` : '';
  return <Problem>{state + worth}</Problem>;
}

/** The classes that differ, and what may be behind that, for a day that is not equal. */
function detailOf({ day, state, rows, causes }: ReconciledDay) {
  const different = rows.filter(({ equal }) => !equal);
  if (state === 'equal') return undefined;
  return (
    <>
      <p class="soft">{MEANINGS[state]}</p>
      {different.length > 0 && (
        <ul class="soft">
          {different.map(({ model, class: of, ours, theirs, dollars }) => (
            <li key={`${model} ${of}`}>
              {model}, {of}: {countText(ours)} counted, {countText(theirs)} billed
              {dollars === null ? '; no price is known' : `; worth ${moneyText(dollars)}`}
            </li>
          ))}
        </ul>
      )}
      {/* An older server does not send them. */}
      {causes != null && state !== 'unreadable' && <CausesOf day={day} causes={causes} />}
    </>
  );
}

interface CausesProps {
  readonly day: string;
  readonly causes: NonNullable<ReconciledDay['causes']>;
}

/** Where to look for the reason. */
function CausesOf({ day, causes }: CausesProps) {
  const { gapCalls, gaps, unpriced, repriced, directSessions, unconfirmedCalls } = causes;
  const found = [
    unconfirmedCalls > 0 && (
      <a href="/console/calls?hangup=unconfirmed">{numberOf(unconfirmedCalls, 'call')} without a confirmed hang-up</a>
    ),
    gapCalls > 0 && (
      <>
        {numberOf(gapCalls, 'call')} not heard for a while, estimated at{' '}
        {gaps.map(({ call, dollars }, n) => (
          <span key={call}>
            {n > 0 && ', '}
            <a href={`/console/calls/${call}`}>{moneyText(dollars)}</a>
          </span>
        ))}
        {gapCalls > gaps.length && ', …'}
      </>
    ),
    directSessions > 0 && (
      <>
        {numberOf(directSessions, 'session')} whose pages opened calls themselves, among{' '}
        <a href={`/console/sessions${queryText(timesOf(day))}`}>those of that day</a>
      </>
    ),
    unpriced.length > 0 && `models in no price list, charged at the highest known rates: ${unpriced.join(', ')}`,
    ...repriced.map(
      ({ model, versions }) => `a new price list: ${model} was charged by the lists ${versions.join(' and ')}`,
    ),
  ].filter(Boolean);
  if (found.length === 0) return null;
  return (
    <>
      <p class="soft">Possible causes:</p>
      {found.map((cause, n) => (
        <p key={n} class="soft">
          {cause}
        </p>
      ))}
    </>
  );
}

function numberOf(count: number, what: string): string {
  return `${countText(count)}${count >= MAX_COUNTED ? ' or more' : ''} ${what}${count === 1 ? '' : 's'}`;
}

/** A day of UTC as the times of a filter. */
function timesOf(day: string) {
  const fromMs = Date.parse(day);
  return { from: new Date(fromMs).toISOString(), to: new Date(fromMs + DAY_MS).toISOString() };
}
