import { useLocation, useRoute } from 'preact-iso';
import { post } from '../data/api.ts';
import { auditOf } from '../data/links.ts';
import { may } from '../data/identity.ts';
import { useMachinesRead } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import type { LoginDetail } from '../data/shapes.ts';
import { Fact, Ref, Section, TimeFact } from '../components/card.tsx';
import { History } from '../components/history.tsx';
import { Page, Unread } from '../components/page.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { loginEndWords, LoginMark } from '../components/status-marks.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { OpenButton, RevokeDialog } from '../components/modal.tsx';
import { Ago, Moment } from '../components/times.tsx';
import { knownOf } from '../components/view-states.tsx';

/** One console login: whose it is, and what it did. */
export function LoginDetailPage() {
  const id = useRoute().params['id'] ?? '';
  const { route } = useLocation();
  useKeys({ Escape: () => route('/console/logins') });
  const path = `/api/operator/logins/${encodeURIComponent(id)}`;
  const isReady = useMachinesRead();
  const resource = useResource<LoginDetail>(path, { topics: ['counts', 'audit'] });
  const login = knownOf(resource);
  if (login === undefined || !isReady) return <Unread title="Login" resource={resource} what="this login" />;
  const { email, state, events, createdAt, renewedAt, expiresAt, endedAt, reason, moreEvents } = login;
  const isActive = state === 'active';
  return (
    <Page title="Login" class="page session-page" resource={resource}>
      <div class="title-row">
        <h1>{email}</h1>
        <LoginMark {...login} />
        <span class="spring" />
        <CopyMenu path={path} text={resource.text.value} />
        {may('change-installation') && isActive && (
          <OpenButton verb="Revoke" kind="danger" opens={<RevokeLoginDialog id={id} email={email} />} />
        )}
      </div>
      <Ref>{id}</Ref>
      <History
        machine={login.machine}
        page={`/console/logins/${id}`}
        state={state}
        events={events}
        deadline={isActive ? { at: expiresAt, to: 'destroyed' } : null}
      >
        <Section title="The login">
          <dl class="facts">
            <TimeFact name="Since" at={createdAt} />
            <Fact name="Last used">
              <Ago at={renewedAt} />
            </Fact>
            <Fact name="Expires">{isActive ? <Moment at={expiresAt} /> : null}</Fact>
            <TimeFact name="Ended" at={endedAt} />
            <Fact name="Because">{reason === null ? null : loginEndWords(reason)}</Fact>
            <Fact name="Audit">
              <a href={auditOf(id)}>What was done to it</a>
            </Fact>
          </dl>
          {moreEvents && <p class="soft">There are older events: the newest 200 are shown.</p>}
        </Section>
      </History>
    </Page>
  );
}

function RevokeLoginDialog({ id, email }: { readonly id: string; readonly email: string }) {
  return (
    <RevokeDialog
      title={`Revoke the login of ${email}?`}
      verb="Revoke login"
      send={(_, reason) => post(`/api/operator/logins/${encodeURIComponent(id)}/revoke`, { reason })}
      done="Login revoked"
    >
      <p>They are logged out on every node within a second. They may log in again, if their address still may.</p>
    </RevokeDialog>
  );
}
