import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { get, type ReadMore } from '../data/api.ts';
import { endTargets } from '../data/dialogs.ts';
import { mayChange } from '../data/identity.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { useMachinesRead } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import { noteServerTime } from '../data/server-time.ts';
import type { EventPage, OperatorEvent, SessionDetail } from '../data/shapes.ts';
import type { SessionDelivery } from '../data/webhooks.ts';
import { Calls } from '../parts/calls.tsx';
import { SessionDeliveries } from '../parts/deliveries.tsx';
import { History } from '../parts/history.tsx';
import { useKeys } from '../parts/keys.ts';
import { StateMark } from '../parts/marks.tsx';
import { CopyMenu } from '../parts/menu.tsx';
import { usePage } from '../parts/page.ts';
import { useScope } from '../parts/scope.tsx';
import { Unread, Warning } from '../parts/view-states.tsx';
import { shortName } from '../words/format.ts';
import { SessionFacts, SessionNotes, Why } from './session/session-facts.tsx';
import { Whisper } from './session/whisper.tsx';

export function SessionPage() {
  const ref = useRoute().params['ref'] ?? '';
  const path = `/api/operator/sessions/${ref}`;
  const isReady = useMachinesRead();
  const resource = useResource<SessionDetail>(path, { topics: ['counts'], ref });
  const { body, text } = resource;
  const detail = body.value;
  usePage(detail === undefined ? 'Session' : `${detail.tenantId} ${shortName(detail.emailHash)}`);
  useEffect(() => {
    if (detail !== undefined && detail.endedAt === null)
      noteServerTime(Date.parse(detail.session.startedAt) + (detail.session.durationSec + 0.5) * 1000, true);
  }, [detail]);

  if (detail === undefined || !isReady) return <Unread title="Session" resource={resource} what="this session" />;
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
  const told = useResource<{ readonly deliveries: readonly SessionDelivery[] }>(
    `/api/operator/sessions/${ref}/webhooks`,
    { topics: ['counts'], ref },
    { besideFeedMs: UNTOLD_MS },
  );
  const deliveries = told.body.value?.deliveries ?? [];

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
        <Whisper key={ref} session={ref} mayWhisper={detail.mayWhisper} />
        <Calls calls={detail.calls} />
        <SessionNotes detail={detail} />
      </History>
      <SessionDeliveries deliveries={deliveries} />
    </div>
  );
}

const PAGE = 200;

interface Older {
  readonly events: readonly OperatorEvent[];
  /** Undefined before the first page was asked for. */
  readonly cursor: string | null | undefined;
}

const none: Older = { events: [], cursor: undefined };

/** The events of a session: those it came with, and older ones page by page. */
function useSessionEvents(ref: string, detail: SessionDetail | undefined) {
  const older = useSignal<Older>(none);
  useEffect(() => {
    older.value = none;
  }, [ref]);
  const newest = detail?.events ?? [];
  const known = new Set(newest.map(({ id }) => id));
  const { events, cursor } = older.value;
  const more: ReadMore = async () => {
    const query = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const answer = await get<EventPage>(`/api/operator/sessions/${ref}/events?limit=${PAGE}${query}`);
    if (!answer.ok) return answer.failure;
    const page = answer.body;
    older.value = { events: [...older.peek().events, ...page.events], cursor: page.nextCursor };
    return undefined;
  };
  return {
    events: [...newest, ...events.filter(({ id }) => !known.has(id))],
    hasMore: cursor === undefined ? (detail?.moreEvents ?? false) : cursor !== null,
    more,
  };
}
