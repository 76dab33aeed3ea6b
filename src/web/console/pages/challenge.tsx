import { useLocation, useRoute } from 'preact-iso';
import { useMachinesRead } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import type { ChallengeDetail } from '../data/shapes.ts';
import { Fact, IdFact, Ref, Section, TimeFact } from '../components/card.tsx';
import { History } from '../components/history.tsx';
import { Page, Unread } from '../components/page.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { ChallengeMark } from '../components/status-marks.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { knownOf } from '../components/view-states.tsx';
import { shortName } from '../labels/format.ts';

/** Everything about one login code that was sent, except the code itself. */
export function ChallengePage() {
  const id = useRoute().params['id'] ?? '';
  const { route } = useLocation();
  useKeys({ Escape: () => route('/console/challenges') });
  const path = `/api/operator/challenges/${encodeURIComponent(id)}`;
  const isReady = useMachinesRead();
  const resource = useResource<ChallengeDetail>(path, { topics: ['counts', 'audit'] });
  const challenge = knownOf(resource);
  if (challenge === undefined || !isReady) return <Unread title="Code" resource={resource} what="this code" />;
  const { machine, subject, state, events, issuedAt, expiresAt, attempts, maxAttempts } = challenge;
  return (
    <Page title="Code" class="page session-page" resource={resource}>
      <div class="title-row">
        <h1>
          Code for <code>{shortName(subject)}</code>
        </h1>
        <ChallengeMark {...challenge} />
        <span class="spring" />
        <CopyMenu path={path} text={resource.text.value} />
      </div>
      <Ref>{id}</Ref>
      <History
        machine={machine}
        page={`/console/challenges/${encodeURIComponent(id)}`}
        state={state}
        events={events}
        deadline={state === 'pending' ? { at: expiresAt, to: 'expired' } : null}
      >
        <Section title="The code">
          <dl class="facts">
            <TimeFact name="Sent" at={issuedAt} />
            <TimeFact name="Expires" at={expiresAt} />
            <Fact name="Attempts">
              {attempts} of {maxAttempts}
            </Fact>
            <IdFact name="Subject" id={subject} />
          </dl>
          <p class="soft">Neither the code nor a hash of it is shown to anybody.</p>
        </Section>
      </History>
    </Page>
  );
}
