import { useLocation, useRoute } from 'preact-iso';
import { Drawing } from '../chart/drawing.tsx';
import { momentOf } from '../chart/moment.ts';
import { titleOf, UTC } from '../chart/words.ts';
import { useMachine } from '../data/machines.ts';
import { useResource } from '../data/resource.ts';
import type { CallDetail } from '../data/shapes.ts';
import { CallFacts } from '../parts/calls.tsx';
import { History } from '../parts/history.tsx';
import { useKeys } from '../parts/keys.ts';
import { CopyMenu } from '../parts/menu.tsx';
import { usePage } from '../parts/page.ts';
import { Unread } from '../parts/view-states.tsx';

/** One call of a session at the provider, and what its machine did. */
export function CallPage() {
  const { ref = '', call: name = '' } = useRoute().params;
  const { route } = useLocation();
  usePage('Call');
  const session = `/console/sessions/${ref}`;
  useKeys({ Escape: () => route(session) });
  const path = `/api/operator/sessions/${ref}/calls/${name}`;
  const resource = useResource<CallDetail>(path, { topics: ['counts'], ref });
  const { body, text } = resource;
  const call = body.value;
  if (call === undefined) return <Unread title="Call" resource={resource} what="this call" />;
  const { machine, state, events, moreEvents, model } = call;
  return (
    <div class="page session-page">
      <div class="title-row">
        <h1>Call of {model}</h1>
        <span class="spring" />
        <CopyMenu path={path} text={text.value} />
      </div>
      <p class="ref">
        <code class="break">{name}</code>
      </p>
      <History machine={machine} page={`${session}/calls/${name}`} state={state} events={events} deadline={null}>
        <section class="card" aria-labelledby="call-facts">
          <h2 id="call-facts">The call</h2>
          <CallFacts call={call} />
          <p>
            <a href={session}>Its session</a>
          </p>
          {moreEvents && <p class="soft">There are older events: the newest 200 are shown.</p>}
        </section>
      </History>
      <MachineDrawing machine="held-call" title="How a node holds it" />
    </div>
  );
}

interface MachineDrawingProps {
  readonly machine: string;
  readonly title: string;
}

/** The chart of a machine whose events are not kept, and so with nothing lit in it; nothing while the machine is not known. */
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
