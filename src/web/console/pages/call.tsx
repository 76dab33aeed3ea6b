import { useLocation, useRoute } from 'preact-iso';
import { Drawing } from '../chart/drawing.tsx';
import { momentOf } from '../chart/moment.ts';
import { titleOf, UTC } from '../chart/labels.ts';
import { keyPage } from '../data/links.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { useMachine, useMachinesRead } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import type { CallDetail } from '../data/shapes.ts';
import { CallFacts } from '../components/calls.tsx';
import { Fact, IdFact, Ref, Section, TimeFact } from '../components/card.tsx';
import { History } from '../components/history.tsx';
import { Page, Unread } from '../components/page.tsx';
import { useKeys } from '../components/shortcuts.ts';
import { CallMark } from '../components/status-marks.tsx';
import { CopyMenu } from '../components/menu.tsx';
import { useScope } from '../components/scope.tsx';
import { knownOf, Problem } from '../components/view-states.tsx';
import { agentName, countText, latencyText } from '../labels/format.ts';
import { Moment } from '../components/times.tsx';
import { Table, type Column } from '../components/table.tsx';

/** One call at the provider: what led to its state, what it has cost so far, and what its machine did. */
export function CallPage() {
  const { ref = '', call: ofSession } = useRoute().params;
  const { route } = useLocation();
  const { to } = useScope();
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
    <Page title="Call" class="page session-page" resource={resource}>
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
      <HeldCallDrawing />
    </Page>
  );
}

/** Not known while no process hears the call, and not sent by older ones. A closed call has none. */
function openResponsesText({ state, openResponses }: CallDetail): string | null {
  if (state === 'closed') return null;
  return openResponses === null || openResponses === undefined ? 'not known at the moment' : countText(openResponses);
}

const HELD_CALL = 'held-call';

/** How a node holds a call. The events of this machine are not stored, so nothing in it is highlighted. Nothing until it is known. */
function HeldCallDrawing() {
  const machine = useMachine(HELD_CALL);
  if (machine === undefined) return null;
  const { charts, words } = machine;
  const chart = charts.down;
  return (
    <details>
      <summary>How a node holds it</summary>
      <figure class="chart" data-machine={HELD_CALL}>
        <Drawing
          {...{ chart, words, zone: UTC, moment: momentOf(chart, '', [], null), next: undefined }}
          sentence={`State chart of the ${titleOf(HELD_CALL)}.`}
        />
      </figure>
    </details>
  );
}

type ToolCall = CallDetail['tools'][number];

const TOOL_COLUMNS: readonly Column<ToolCall>[] = [
  { title: 'Tool', cell: ({ name }) => <code class="break">{name}</code>, isName: true },
  { title: 'Asked', cell: ({ askedAt }) => <Moment at={askedAt} /> },
  { title: 'Result', cell: (call) => <Result call={call} /> },
  { title: 'Took', cell: ({ ms }) => (ms === null ? '–' : latencyText(ms)), style: 'number' },
];

const FAILED: ReadonlySet<ToolCall['state']> = new Set(['failed', 'timed_out']);

/** A result. If the agent got no answer, it has a warning too, because that is what visitors complain about. */
function Result({ call: { state, code, detail, endReason } }: { readonly call: ToolCall }) {
  const end = endReason == null ? '' : `, and ended the session: ${endReason}`;
  const why = detail == null ? '' : ` (${detail})`;
  const words = `${(code ?? state).replaceAll('_', ' ')}${why}${end}`;
  return FAILED.has(state) ? <Problem>{words}</Problem> : <>{words}</>;
}

/** The server tools that were called in a call; nothing if there were none. */
function ToolCalls({ tools }: { readonly tools: readonly ToolCall[] }) {
  if (tools.length === 0) return null;
  const rows = tools.map((row, at) => ({ key: String(at), row }));
  return (
    <Section title="Tools that Switchboard called">
      <Table caption="Tools that Switchboard called" columns={TOOL_COLUMNS} rows={rows} />
    </Section>
  );
}
