import { useLocation } from 'preact-iso';
import type { loginPage, OperatorLogin } from '../../../protocol/operator/login.ts';
import { dialog } from '../data/dialogs.ts';
import { may } from '../data/identity.ts';
import { usePagedRows } from '../data/paged.ts';
import { queryText } from '../data/query.ts';
import type { Output } from '../data/shapes.ts';
import { AddressChoice } from '../parts/filter-fields.tsx';
import { FoundList } from '../parts/found-list.tsx';
import { LiftAddressDialog } from './logins/lift-address-dialog.tsx';
import { LoginMark, LoginTabs } from '../parts/login-marks.tsx';
import { Ago, Countdown, Moment } from '../parts/moments.tsx';
import { usePage } from '../parts/page.ts';
import type { Column } from '../parts/table.tsx';
import { Empty } from '../parts/view-states.tsx';

/** Console logins, newest first. */
export function LoginsPage() {
  usePage('Logins');
  const { query } = useLocation();
  const address = `/api/operator/logins${queryText({ state: query['state'] })}`;
  const list = usePagedRows<Output<typeof loginPage>, OperatorLogin>(address, {
    address: () => address,
    rowsOf: ({ logins }) => logins,
    keyOf: ({ id }) => id,
    watch: { topics: ['counts', 'audit'] },
    dimsMissing: true,
  });
  return (
    <div class="page">
      <div class="title-row">
        <h1>Logins</h1>
        <LoginTabs here="logins" />
        <AddressChoice
          name="state"
          label="State"
          values={[
            ['active', 'active'],
            ['destroyed', 'over'],
          ]}
        />
        <span class="spring" />
        {may('change-installation') && (
          <button type="button" onClick={() => (dialog.value = <LiftAddressDialog />)}>
            Lift an address…
          </button>
        )}
      </div>
      <FoundList
        what="Logins"
        list={list}
        columns={COLUMNS}
        empty={
          <Empty title="No login is like that">
            <p>
              <a href="/console/logins">See all logins</a>
            </p>
          </Empty>
        }
      />
    </div>
  );
}

const COLUMNS: readonly Column<OperatorLogin>[] = [
  { title: 'Who', style: 'text', cell: ({ id, email }) => <a href={`/console/logins/${id}`}>{email}</a> },
  { title: 'State', cell: (login) => <LoginMark {...login} /> },
  { title: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Last used', cell: ({ renewedAt }) => <Ago at={renewedAt} /> },
  {
    title: 'Ends',
    cell: ({ state, expiresAt, endedAt }) =>
      state === 'active' ? <Countdown to={expiresAt} /> : endedAt === null ? '–' : <Moment at={endedAt} />,
  },
];
