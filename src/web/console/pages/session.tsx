import { useEffect } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { endTargets } from '../data/dialogs.ts';
import { mayChange } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import { noteServerTime } from '../data/server-time.ts';
import { useSessionEvents } from '../data/session-events.ts';
import type { SessionDetail } from '../data/shapes.ts';
import { History } from '../parts/history.tsx';
import { Calls } from '../parts/calls.tsx';
import { CopyMenu } from '../parts/copy-menu.tsx';
import { useKeys } from '../parts/keys.ts';
import { usePage } from '../parts/page.ts';
import { useScope } from '../parts/scope.tsx';
import { SessionFacts } from './session/session-facts.tsx';
import { SessionNotes } from './session/session-notes.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { Unread, Warning } from '../parts/view-states.tsx';
import { Why } from './session/why.tsx';
import { shortName } from '../words/format.ts';

export function SessionPage() {
  const ref = useRoute().params['ref'] ?? '';
  const path = `/api/operator/sessions/${ref}`;
  const resource = useResource<SessionDetail>(path, { topics: ['counts'], ref });
  const { body, text } = resource;
  const detail = body.value;
  usePage(detail === undefined ? 'Session' : `${detail.tenantId} ${shortName(detail.emailHash)}`);
  useEffect(() => {
    if (detail !== undefined && detail.endedAt === null)
      noteServerTime(Date.parse(detail.session.startedAt) + (detail.session.durationSec + 0.5) * 1000, true);
  }, [detail]);

  if (detail === undefined) return <Unread title="Session" resource={resource} what="this session" />;
  return <Shown detail={detail} path={path} text={text.value} />;
}

interface ShownProps {
  readonly detail: SessionDetail;
  readonly path: string;
  readonly text: string;
}

function Shown({ detail, path, text }: ShownProps) {
  const { ref, state, tenantId, agentId, emailHash } = detail;
  const { route } = useLocation();
  const { to } = useScope();
  const { events, hasMore, more } = useSessionEvents(ref, detail);

  const end = (): void => {
    if (state !== 'ended' && mayChange.value) endTargets.value = [ref];
  };
  useKeys({
    e: end,
    Escape: () => route(to('/console/sessions')),
  });

  return (
    <div class="page session-page">
      <div class="title-row">
        <h1>
          {agentId === null ? tenantId : `${tenantId}/${agentId}`} <code>{shortName(emailHash)}</code>
        </h1>
        <StateMark state={state} />
        <span class="spring" />
        <CopyMenu path={path} text={text} />
        {mayChange.value && state !== 'ended' && (
          <button type="button" class="danger" title="End (e)" onClick={end}>
            <Warning /> End…
          </button>
        )}
      </div>
      <p class="ref">
        <code class="break">{ref}</code>
      </p>
      <Why detail={detail} />
      <History
        machine="voice-session"
        page={`/console/sessions/${ref}`}
        state={state}
        events={events}
        deadline={detail.deadline}
        hasMore={hasMore}
        more={more}
      >
        <SessionFacts detail={detail} />
        <Calls session={ref} calls={detail.calls} />
        <SessionNotes detail={detail} />
      </History>
    </div>
  );
}
