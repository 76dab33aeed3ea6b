import { useLocation, useRoute } from 'preact-iso';
import { Drawing } from '../chart/drawing.tsx';
import { momentOf } from '../chart/moment.ts';
import { titleOf, UTC } from '../chart/labels.ts';
import { keyPage } from '../data/keys.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { useMachine, useMachinesRead } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import type { CallDetail } from '../data/shapes.ts';
import { CallFacts } from '../components/calls.tsx';
import { Fact, IdFact, Ref, Section, TimeFact } from '../components/card.tsx';
import { History } from '../components/history.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { CallMark } from '../components/status-marks.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { usePage } from '../components/page-title.ts';
import { useScope } from '../components/scope.tsx';
import { knownOf, Outdated, Unread } from '../components/view-states.tsx';
import { agentName, countText } from '../labels/format.ts';
import { ToolCalls } from './call/tool-calls.tsx';

/** One call at the provider: what led to its state, what it has cost so far, and what its machine did. */
export function CallPage() {
  const { ref = '', call: ofSession } = useRoute().params;
  const { route } = useLocation();
  const { to } = useScope();
  usePage('Call');
  // Leads back to the session if the call was opened from there.
  useKeys({ Escape: () => route(ofSession === undefined ? to('/console/calls') : `/console/sessions/${ref}`) });
  const name = encodeURIComponent(ofSession ?? ref);
  const path = `/api/operator/calls/${name}`;
  const isReady = useMachinesRead();
  const resource = useResource<CallDetail>(path, { topics: ['counts'] }, { besideFeedMs: UNTOLD_MS });
  const call = knownOf(resource);
  if (call === undefined || !isReady) return <Unread title="Call" resource={resource} what="this call" />;
  const { machine, state, events, moreEvents, model, session, why, createdAt, tenantId, keyId, captions } = call;
  return (
    <div class="page session-page">
      <Outdated failure={resource.failure.value} />
      <div class="title-row">
        <h1>Call of {model}</h1>
        <CallMark state={state} />
        <span class="spring" />
        <CopyMenu path={path} text={resource.text.value} />
      </div>
      <Ref>{call.ref}</Ref>
      <div class="why">
        <p>{why.sentence}</p>
      </div>
      <History
        machine={machine}
        page={path.replace('/api/operator/', '/console/')}
        state={state}
        events={events}
        deadline={null}
      >
        <Section title="The call">
          <CallFacts call={call}>
            <TimeFact name="Asked for" at={createdAt} />
            <Fact name="Tenant">{agentName(call)}</Fact>
            <Fact name="Key">{keyId === null ? null : <a href={keyPage({ tenantId, id: keyId })}>{keyId}</a>}</Fact>
            <IdFact name="Session" id={session} href={`/console/sessions/${session}`} />
            <Fact name="Responses that run">{openResponsesText(call)}</Fact>
            <Fact name="Captions">{captions === true ? 'on' : captions === false ? 'off' : null}</Fact>
            <IdFact name="Process" id={call.ownerNode} />
          </CallFacts>
          <p>
            <a href={to('/console/calls')}>All calls</a>
          </p>
          {moreEvents && <p class="soft">There are older events: the newest 200 are shown.</p>}
        </Section>
      </History>
      <ToolCalls tools={call.tools} />
      <MachineDrawing machine="held-call" title="How a node holds it" />
    </div>
  );
}

/** Not known while no process hears the call, and not sent by older ones. A closed call has none. */
function openResponsesText({ state, openResponses }: CallDetail): string | null {
  if (state === 'closed') return null;
  return openResponses === null || openResponses === undefined ? 'not known at the moment' : countText(openResponses);
}

interface MachineDrawingProps {
  readonly machine: string;
  readonly title: string;
}

/** The chart of a machine whose events are not stored, so nothing in it is highlighted. Shows nothing until the machine is known. */
function MachineDrawing({ machine: id, title }: MachineDrawingProps) {
  const machine = useMachine(id);
  if (machine === undefined) return null;
  const { charts, words } = machine;
  const chart = charts.down;
  return (
    <details>
      <summary>{title}</summary>
      <figure class="chart" data-machine={id}>
        <Drawing
          {...{ chart, words, zone: UTC, moment: momentOf(chart, '', [], null), next: undefined }}
          sentence={`State chart of the ${titleOf(id)}.`}
        />
      </figure>
    </details>
  );
}
