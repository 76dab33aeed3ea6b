import { useLocation } from 'preact-iso';
import { useId } from 'preact/hooks';
import type { loginPage, OperatorLogin } from '../../../protocol/operator/login.ts';
import { post } from '../data/api.ts';
import { may } from '../data/identity.ts';
import { usePagedRows } from '../data/paged.ts';
import { queryText } from '../data/query.ts';
import type { Output } from '../data/shapes.ts';
import { DownloadRows } from '../components/download.tsx';
import { AddressChoice } from '../components/filter-fields.tsx';
import { FoundList } from '../components/found-list.tsx';
import { Page } from '../components/page.tsx';
import { LoginMark } from '../components/status-marks.tsx';
import { OpenButton, RevokeDialog, textOf } from '../components/modal.tsx';
import { Ago, Countdown, Moment } from '../components/times.tsx';
import type { Column } from '../components/table.tsx';
import { Empty } from '../components/view-states.tsx';

/** Console logins, newest first. */
export function LoginsPage() {
  const { query } = useLocation();
  const address = `/api/operator/logins${queryText({ state: query['state'] })}`;
  const list = usePagedRows<Output<typeof loginPage>, OperatorLogin>(address, {
    rowsOf: ({ logins }) => logins,
    keyOf: ({ id }) => id,
    watch: { topics: ['counts', 'audit'] },
    dimsMissing: true,
  });
  return (
    <Page title="Logins">
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
        {may('change-installation') && <OpenButton verb="Lift an address" opens={<LiftAddressDialog />} />}
      </div>
      <DownloadRows
        what="logins"
        list={list}
        columns={['id', 'email', 'state', 'createdAt', 'renewedAt', 'expiresAt', 'endedAt']}
      />
      <FoundList
        what="Logins"
        list={list}
        columns={COLUMNS}
        empty={<Empty title="No login is like that" link={['/console/logins', 'See all logins']} />}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<OperatorLogin>[] = [
  {
    title: 'Who',
    sortBy: ({ email }) => email,
    style: 'text',
    cell: ({ id, email }) => <a href={`/console/logins/${id}`}>{email}</a>,
  },
  { title: 'State', cell: (login) => <LoginMark {...login} /> },
  { title: 'Since', sortBy: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Moment at={createdAt} /> },
  { title: 'Last used', sortBy: ({ renewedAt }) => renewedAt, cell: ({ renewedAt }) => <Ago at={renewedAt} /> },
  {
    title: 'Ends',
    cell: ({ state, expiresAt, endedAt }) =>
      state === 'active' ? <Countdown to={expiresAt} /> : endedAt === null ? '–' : <Moment at={endedAt} />,
  },
];

/** Lets an address log in from new browsers again. */
function LiftAddressDialog() {
  const id = useId();
  return (
    <RevokeDialog
      title="Let an address log in again?"
      verb="Let it log in"
      send={(data, reason) => post('/api/operator/addresses/lift', { email: textOf(data, 'email'), reason })}
      done="It may log in again"
    >
      <p>
        Too many wrong codes close an address, or its domain, to browsers that never logged in by it. Be sure who asks:
        this forgets the wrong codes, and lets the address pass what its domain has used up, for a day.
      </p>
      <label for={id}>E-mail address</label>
      <input id={id} name="email" type="email" required autocomplete="off" />
    </RevokeDialog>
  );
}

/** Switches between the lists of logins and of codes. */
export function LoginTabs({ here }: { readonly here: 'logins' | 'challenges' }) {
  return (
    <nav class="tabs" aria-label="Logins and codes">
      <a href="/console/logins" aria-current={here === 'logins' ? 'page' : undefined}>
        Logins
      </a>
      <a href="/console/challenges" aria-current={here === 'challenges' ? 'page' : undefined}>
        Codes
      </a>
    </nav>
  );
}
