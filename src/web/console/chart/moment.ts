import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import type { Chart, ChartEdge, ChartTransition } from '../../../protocol/operator/machine.ts';
import { nodeNamed } from '../../shared/chart/nodes.ts';

/** How often something was done, and when it was done last. */
export interface Occurrences {
  readonly count: number;
  readonly atMs: number;
}

/** What a chart shows: an actor as it is, or as it was after one of its events. */
export interface Moment {
  /** The atomic state. */
  readonly state: string;
  /** When the actor entered that state; undefined if the events do not go back that far. */
  readonly sinceMs: number | undefined;
  /** The last thing the machine did, up to the event that was stepped back to or up to now. */
  readonly event: OperatorEvent | undefined;
  readonly isPast: boolean;
  /** How often any of these transitions was taken until then; undefined if never. */
  occurrencesOf(transitions: readonly ChartTransition[]): Occurrences | undefined;
  /** Whether `event` took one of these transitions. */
  isStep(transitions: readonly ChartTransition[]): boolean;
}

type Step = OperatorEvent['steps'][number];

/** @param events newest first; @param at the event to step back to; if it is not among the events, the moment is the present */
export function momentOf(chart: Chart, state: string, events: readonly OperatorEvent[], at: string | null): Moment {
  const index = events.findIndex(({ id }) => id === at);
  const isPast = index >= 0;
  const until = isPast ? events.slice(index) : events;
  const event = until.find(({ to }) => to !== null);
  const transitions = transitionsOf(chart);
  const occurrences = new Map<ChartTransition, Occurrences>();
  for (const { at, steps } of until.toReversed())
    for (const step of steps) {
      const transition = transitionOf(step, transitions);
      if (transition !== undefined)
        occurrences.set(transition, { count: (occurrences.get(transition)?.count ?? 0) + 1, atMs: Date.parse(at) });
    }
  const stepped = new Set(event?.steps.map((step) => transitionOf(step, transitions)));
  const shown = (isPast ? event?.to : undefined) ?? state;
  const entered = until.find(({ from, to }) => to === shown && from !== to);
  return {
    state: shown,
    sinceMs: entered === undefined ? undefined : Date.parse(entered.at),
    event,
    isPast,
    occurrencesOf: (some) => sumOf(some.flatMap((transition) => occurrences.get(transition) ?? [])),
    isStep: (some) => some.some((transition) => stepped.has(transition)),
  };
}

/** Every transition of a chart, including those that stay in their state. */
export function transitionsOf({ nodes, edges }: Chart): ChartTransition[] {
  return [...nodes.flatMap(({ loops }) => loops), ...edges.flatMap(({ transitions }) => transitions)];
}

/** A transition for this event takes precedence over one for any event (`*`). */
function transitionOf({ event, guard, from, to }: Step, transitions: readonly ChartTransition[]) {
  const fitting = transitions.filter((one) => one.guard === guard && one.from === from && one.to === to);
  return fitting.find((one) => one.event === event) ?? fitting.find((one) => one.event === '*');
}

function sumOf(occurrences: readonly Occurrences[]): Occurrences | undefined {
  if (occurrences.length === 0) return undefined;
  const count = occurrences.reduce((sum, one) => sum + one.count, 0);
  return { count, atMs: Math.max(...occurrences.map(({ atMs }) => atMs)) };
}

/** Whether the clock takes the transition, rather than a request. */
export function isByClock({ event }: ChartTransition): boolean {
  return event === '' || event === 'CLOCK';
}

/** The edge that the clock alone takes next, from a state or from one that contains it. */
export function nextEdge(chart: Chart, state: string, to: string): ChartEdge | undefined {
  const from = nodeNamed(chart, state)?.id ?? '';
  const target = nodeNamed(chart, to)?.id;
  return chart.edges.find(
    (edge) =>
      edge.to === target &&
      (from === edge.from || from.startsWith(`${edge.from}.`)) &&
      edge.transitions.some(isByClock),
  );
}
