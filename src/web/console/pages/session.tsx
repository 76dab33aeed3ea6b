import { useEffect } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { endTargets } from '../data/dialogs.ts';
import { mayChange } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import { noteServerTime } from '../data/server-time.ts';
import { useSessionEvents } from '../data/session-events.ts';
import type { SessionDetail } from '../data/shapes.ts';
import { stateAt } from '../data/timeline.ts';
import { Calls } from '../parts/calls.tsx';
import { CopyMenu } from '../parts/copy-menu.tsx';
import { useKeys } from '../parts/keys.ts';
import { MachineChart } from '../parts/machine-chart.tsx';
import { Moment } from '../parts/moments.tsx';
import { usePage } from '../parts/page.ts';
import { useScope } from '../parts/scope.tsx';
import { SessionFacts } from '../parts/session-facts.tsx';
import { SessionNotes } from '../parts/session-notes.tsx';
import { StateMark, StateOrWord } from '../parts/state-mark.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { Unread, Warning } from '../parts/view-states.tsx';
import { useSteps } from '../parts/use-steps.ts';
import { Why } from '../parts/why.tsx';
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
  const { at, step, here } = useSteps(`/console/sessions/${ref}`, events);
  // An address may name an event that is further back than what the session came with.
  useEffect(() => {
    if (at !== undefined && here === undefined && hasMore) void more();
  }, [at, here, hasMore, events.length]);

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
      {here !== undefined && (
        <p class="stepped">
          <span>
            Seen as it was at <Moment at={here.at} hasMs />:
          </span>
          <StateOrWord name={stateAt(events, here.id) ?? state} />
          <button type="button" onClick={() => step(undefined)}>
            Back to now
          </button>
        </p>
      )}
      <MachineChart machine="voice-session" {...{ state, events, at, deadline: detail.deadline }} />
      <div class="session-columns">
        <Timeline
          machine="voice-session"
          events={events}
          at={at}
          onStep={step}
          hasMore={hasMore}
          onMore={() => void more()}
        />
        <div class="side">
          <SessionFacts detail={detail} />
          <Calls session={ref} calls={detail.calls} />
          <SessionNotes detail={detail} />
        </div>
      </div>
    </div>
  );
}
