import { useLocation } from 'preact-iso';
import type { challengePage, OperatorChallenge } from '../../../protocol/operator/login.ts';
import { usePagedRows } from '../data/paged.ts';
import { queryText } from '../data/query.ts';
import type { Output } from '../data/shapes.ts';
import { DownloadRows } from '../components/download.tsx';
import { AddressChoice } from '../components/filter-fields.tsx';
import { FoundList } from '../components/found-list.tsx';
import { Page } from '../components/page.tsx';
import { ChallengeMark } from '../components/status-marks.tsx';
import { Countdown, Moment } from '../components/times.tsx';
import type { Column } from '../components/table.tsx';
import { Empty } from '../components/view-states.tsx';
import { shortName } from '../labels/format.ts';
import { LoginTabs } from './logins.tsx';

const STATES = [
  'pending',
  'verified',
  'locked',
  'expired',
  'superseded',
] as const satisfies OperatorChallenge['state'][];

/** Login codes that were sent, newest first. A hash stands for the address, and the code is never shown. */
export function ChallengesPage() {
  const { query } = useLocation();
  const address = `/api/operator/challenges${queryText({ state: query['state'] })}`;
  const list = usePagedRows<Output<typeof challengePage>, OperatorChallenge>(address, {
    rowsOf: ({ challenges }) => challenges,
    keyOf: ({ id }) => id,
    watch: { topics: ['counts', 'audit'] },
    dimsMissing: true,
  });
  return (
    <Page title="Codes">
      <div class="title-row">
        <h1>Codes</h1>
        <LoginTabs here="challenges" />
        <AddressChoice name="state" label="State" values={STATES.map((each) => [each, each])} />
      </div>
      <DownloadRows
        what="codes"
        list={list}
        columns={['id', 'subject', 'state', 'issuedAt', 'attempts', 'maxAttempts', 'expiresAt']}
      />
      <FoundList
        what="Login codes"
        list={list}
        columns={COLUMNS}
        empty={<Empty title="No code is like that" hint="Codes are kept until a day after they expire." />}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<OperatorChallenge>[] = [
  {
    title: 'Subject',
    cell: ({ id, subject }) => (
      <a href={`/console/challenges/${encodeURIComponent(id)}`}>
        <code>{shortName(subject)}</code>
      </a>
    ),
  },
  { title: 'State', cell: (challenge) => <ChallengeMark {...challenge} /> },
  { title: 'Sent', cell: ({ issuedAt }) => <Moment at={issuedAt} /> },
  { title: 'Attempts', cell: ({ attempts, maxAttempts }) => `${attempts} of ${maxAttempts}` },
  {
    title: 'Expires',
    cell: ({ state, expiresAt }) => (state === 'pending' ? <Countdown to={expiresAt} /> : <Moment at={expiresAt} />),
  },
];
