import { useResource } from '../../data/resource.ts';
import type { ReconciledDay, Reconciliation } from '../../data/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { Moment } from '../../parts/moments.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Problem, Shown } from '../../parts/view-states.tsx';
import { moneyText } from '../../../../protocol/money.ts';
import { countText } from '../../words/format.ts';

/** What the state of a day means. */
const MEANINGS: Readonly<Record<ReconciledDay['state'], string>> = {
  equal: '',
  explained: 'What differs was estimated here, or is of calls that pages opened themselves.',
  unexplained: 'Nothing explains what differs: see the calls of that day whose hang-up is unconfirmed.',
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
        {({ enabled, days }) => (days.length === 0 ? <NoDays isEnabled={enabled} /> : <Days days={days} />)}
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

/** The classes that differ, for a day that is not equal. */
function detailOf({ state, rows }: ReconciledDay) {
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
    </>
  );
}
