import { useLocation, useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { endTargets } from '../data/dialogs.ts';
import { whyNoEnd } from '../data/ending.ts';
import { useMachinesRead } from '../data/machines.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { listAddress } from '../data/places.ts';
import { noteServerTime } from '../data/server-time.ts';
import { chosenOf, useSessionTimeline, ABOUT, type About } from '../data/session-timeline.ts';
import type { SessionDetail } from '../data/shapes.ts';
import { charted } from '../data/timeline.ts';
import { Calls } from '../components/calls.tsx';
import { Ref } from '../components/card.tsx';
import { EndButton } from '../components/end-button.tsx';
import { History } from '../components/history.tsx';
import { Page, Unread } from '../components/page.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { StateMark } from '../components/status-marks.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { useScope } from '../components/scope.tsx';
import { Failed, knownOf, Loading, Outdated } from '../components/view-states.tsx';
import { agentName, shortName, countText } from '../labels/format.ts';
import { SessionFacts, SessionNotes, Why } from './session/session-facts.tsx';
import { Whisper } from './session/whisper.tsx';

export function SessionPage() {
  const ref = useRoute().params['ref'] ?? '';
  const path = `/api/operator/sessions/${ref}`;
  const isReady = useMachinesRead();
  const resource = useResource<SessionDetail>(path, { topics: ['counts'], ref });
  const detail = knownOf(resource);
  const title = detail === undefined ? 'Session' : `${detail.tenantId} ${shortName(detail.emailHash)}`;
  useEffect(() => {
    if (detail !== undefined && detail.endedAt === null)
      noteServerTime(Date.parse(detail.session.startedAt) + (detail.session.durationSec + 0.5) * 1000, true);
  }, [detail]);

  if (detail === undefined || !isReady)
    return <Unread title={title} heading="Session" resource={resource} what="this session" />;
  return (
    <Page title={title} class="page session-page" resource={resource}>
      <FoundSession detail={detail} path={path} text={resource.text.value} />
    </Page>
  );
}

interface FoundSessionProps {
  readonly detail: SessionDetail;
  readonly path: string;
  readonly text: string;
}

function FoundSession({ detail, path, text }: FoundSessionProps) {
  const { ref, state, emailHash } = detail;
  const { query, route } = useLocation();
  const { to } = useScope();
  const chosen = chosenOf(query['about']);
  const timeline = useSessionTimeline(ref, chosen);
  const here = (about: readonly About[]): string => `/console/sessions/${ref}${queryText({ about: about.join(',') })}`;

  const whyNot = state === 'ended' ? 'It has ended.' : whyNoEnd();
  const end = (): void => {
    endTargets.value = [ref];
  };
  useKeys({
    e: () => whyNot === undefined && end(),
    Escape: () => route(listAddress(to('/console/sessions'))),
  });

  return (
    <>
      <div class="title-row">
        <h1>
          {agentName(detail)} <code>{shortName(emailHash)}</code>
        </h1>
        <StateMark state={state} />
        <span class="spring" />
        <CopyMenu path={path} text={text} />
        <EndButton why={whyNot} title="End (e)" onEnd={end} />
      </div>
      <Ref>{ref}</Ref>
      <Why detail={detail} />
      <History
        machine="voice-session"
        page={here(chosen)}
        state={state}
        events={charted(detail.events, timeline.events ?? [])}
        deadline={detail.deadline}
        more={timeline.more}
        rows={timeline.events ?? []}
        list={{
          since: detail.session.startedAt,
          above: (
            <>
              <AboutChips
                chosen={chosen}
                counts={timeline.counts}
                atLeast={timeline.atLeast}
                onChoose={(about) => route(here(about), true)}
              />
              {timeline.events !== undefined && <Outdated failure={timeline.failure} />}
            </>
          ),
          empty: <NoRows timeline={timeline} isFiltered={chosen.length > 0} />,
        }}
      >
        <SessionFacts detail={detail} />
        <Whisper key={ref} session={ref} mayWhisper={detail.mayWhisper} />
        <Calls calls={detail.calls} />
        <SessionNotes detail={detail} />
      </History>
    </>
  );
}

interface NoRowsProps {
  readonly timeline: ReturnType<typeof useSessionTimeline>;
  readonly isFiltered: boolean;
}

/** Why the list is empty: it has not been read yet, it cannot be read, or there is nothing. */
function NoRows({ timeline: { events, failure }, isFiltered }: NoRowsProps) {
  if (events === undefined)
    return failure === undefined ? <Loading rows={8} /> : <Failed failure={failure} what="what happened" />;
  return (
    <p class="soft">
      {isFiltered
        ? 'Nothing of that happened, or it is kept no more.'
        : 'Nothing is kept of it. Events are written within a second, and kept for a while.'}
    </p>
  );
}

interface AboutProps {
  /** An empty list stands for everything. */
  readonly chosen: readonly About[];
  /** Undefined until known. */
  readonly counts: Partial<Record<About, number>> | undefined;
  /** Choices whose count reached its maximum: there may be more rows. */
  readonly atLeast: readonly About[];
  readonly onChoose: (chosen: readonly About[]) => void;
}

/** Chooses what a session's timeline is about; each choice shows its number of rows. */
function AboutChips({ chosen, counts, atLeast, onChoose }: AboutProps) {
  const toggle = (about: About): void =>
    onChoose(chosen.includes(about) ? chosen.filter((one) => one !== about) : [...chosen, about]);
  return (
    <div class="about" role="group" aria-label="Shown">
      <button type="button" aria-pressed={chosen.length === 0} onClick={() => onChoose([])}>
        All
      </button>
      {(Object.entries(ABOUT) as [About, string][]).map(([about, words]) => (
        <button key={about} type="button" aria-pressed={chosen.includes(about)} onClick={() => toggle(about)}>
          {words}{' '}
          {counts !== undefined && (
            <span class="soft figure">
              {countText(counts[about] ?? 0)}
              {atLeast.includes(about) && '+'}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
