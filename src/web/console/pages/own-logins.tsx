import type { OwnLogin } from '../../../protocol/login.ts';
import { post } from '../data/api.ts';
import { dialog } from '../data/dialogs.ts';
import { logOut } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import type { OwnLogins } from '../data/shapes.ts';
import { FormDialog } from '../components/modal.tsx';
import { Page } from '../components/page.tsx';
import { Ago, Countdown, Moment } from '../components/times.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Shown } from '../components/view-states.tsx';

/** The operator's own logins. */
export function OwnLoginsPage() {
  const resource = useResource<OwnLogins>('/api/auth/logins', { topics: ['counts'] });
  return (
    <Page title="Your logins">
      <h1>Your logins</h1>
      <p class="soft">Each is a browser in which you logged in. End one that you do not know, or no longer use.</p>
      <Shown resource={resource} what="your logins">
        {({ logins }) => (
          <Table
            caption="Your logins, newest first"
            columns={COLUMNS}
            rows={logins.map((row) => ({ key: row.id, row }))}
          />
        )}
      </Shown>
    </Page>
  );
}

const COLUMNS: readonly Column<OwnLogin>[] = [
  {
    title: 'Since',
    cell: ({ createdAt, isCurrent }) => (
      <>
        <Moment at={createdAt} />
        {isCurrent && ' (this browser)'}
      </>
    ),
  },
  { title: 'Last used', cell: ({ renewedAt }) => <Ago at={renewedAt} /> },
  { title: 'Ends', cell: ({ expiresAt }) => <Countdown to={expiresAt} /> },
  {
    title: 'End it',
    cell: (login) => (
      <button
        type="button"
        onClick={() => (login.isCurrent ? void logOut() : (dialog.value = <EndOwnLoginDialog {...login} />))}
      >
        {login.isCurrent ? 'Log out' : 'End…'}
      </button>
    ),
  },
];

function EndOwnLoginDialog({ id, createdAt }: OwnLogin) {
  return (
    <FormDialog
      isDangerous
      title="End this login?"
      verb="End it"
      send={() => post(`/api/auth/logins/${encodeURIComponent(id)}/revoke`, {})}
      done="Login ended"
    >
      <p>
        The browser that logged in <Moment at={createdAt} /> is logged out at once. If you do not know it, tell an
        operator: somebody reads your mail.
      </p>
    </FormDialog>
  );
}
