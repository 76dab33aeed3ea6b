import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { StateChart } from '../chart/chart.tsx';
import type { ReadMore } from '../data/api.ts';
import { useMachine } from '../data/machines.ts';
import { zone } from '../data/preferences.ts';
import { now } from '../data/server-time.ts';
import type { OperatorEvent } from '../data/shapes.ts';
import { stateAt, stepFrom } from '../data/timeline.ts';
import { clockText, zoneText } from '../labels/format.ts';
import { useKeys } from './shortcuts.ts';
import { StateOrWord } from './status-marks.tsx';
import { Moment } from './times.tsx';
import { Timeline } from './timeline.tsx';

interface Props {
  readonly machine: string;
  /** The page's address for the present. */
  readonly page: string;
  readonly state: string;
  /** Newest first. */
  readonly events: readonly OperatorEvent[];
  /** When the clock alone moves the actor next, and to which state. */
  readonly deadline: { readonly at: string; readonly to: string } | null;
  /** Reads older events; undefined if there are none. */
  readonly more?: ReadMore | undefined;
  /** What the list shows, if that differs from what the machine did. */
  readonly rows?: readonly OperatorEvent[];
  readonly list?: Pick<Parameters<typeof Timeline>[0], 'since' | 'above' | 'empty'>;
  /** Shown at the side. */
  readonly children: ComponentChildren;
}

/** What a machine did, in its chart and in a list, at present or stepped back to an event. */
export function History({ machine, page, state, events, deadline, more, rows = events, list, children }: Props) {
  const { at, step, here } = useSteps(page, rows);
  // The address may name an event that is older than those already read.
  useEffect(() => {
    if (at !== undefined && here === undefined) void more?.();
  }, [at, here, more === undefined, rows.length]);
  return (
    <>
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
      <MachineChart {...{ machine, state, events, at, deadline }} />
      <div class="session-columns">
        <Timeline {...{ machine, at, more }} {...list} events={rows} onStep={step} />
        <div class="side">{children}</div>
      </div>
    </>
  );
}

/** Steps through what a machine did. The current event is kept in the page's address. @param page the address for the present */
function useSteps(page: string, events: readonly OperatorEvent[]) {
  const { query, route } = useLocation();
  const at = query['at'];
  const step = (to: string | undefined): void =>
    route(to === undefined ? page : `${page}${page.includes('?') ? '&' : '?'}at=${encodeURIComponent(to)}`, true);
  useKeys({
    '[': () => step(stepFrom(events, at, -1)),
    ']': () => step(stepFrom(events, at, 1)),
    Home: () => step(stepFrom(events, at, 'start')),
    End: () => step(undefined),
  });
  return { at, step, here: events.find(({ id }) => id === at) };
}

interface MachineChartProps extends Pick<Props, 'machine' | 'state' | 'events' | 'deadline'> {
  /** The event that the page shows; undefined for the present. */
  readonly at: string | undefined;
}

/** What an actor did, in the chart of its machine. Shows nothing until the machine is known. */
function MachineChart({ machine: id, state, events, at, deadline }: MachineChartProps) {
  const machine = useMachine(id);
  if (machine === undefined) return null;
  const told = { name: zoneText(now.value, zone.value), timeOf: (atMs: number) => clockText(atMs, zone.value) };
  const { charts, words } = machine;
  return (
    <section aria-label="Its machine">
      <StateChart
        {...{ machine: id, chart: charts, words, state, events, at: at ?? null, now: now.value, deadline, zone: told }}
      />
    </section>
  );
}
