import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import type { Chart, ChartEdge, ChartTransition } from '../../../protocol/operator/machine.ts';
import { nodeNamed } from '../../shared/chart/nodes.ts';

/** How often something was done, and when last. */
export interface Occurrences {
  readonly count: number;
  readonly atMs: number;
}

/** What a chart shows: an actor as it is, or as it was after one of its events. */
export interface Moment {
  /** The innermost state. */
  readonly state: string;
  /** When it came into that state; undefined where that is not among the events. */
  readonly sinceMs: number | undefined;
  /** What the machine did last, until the event that was stepped back to or until now. */
  readonly event: OperatorEvent | undefined;
  readonly isPast: boolean;
  /** What was taken until then; undefined for what never was. */
  occurrencesOf(transitions: readonly ChartTransition[]): Occurrences | undefined;
  /** Whether `event` took one of them. */
  isStep(transitions: readonly ChartTransition[]): boolean;
}

type Step = OperatorEvent['steps'][number];

/** @param events the newest first; @param at the event to step back to: with one that is not there it is now */
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

/** Every transition of a chart, those that stay in their state as well. */
export function transitionsOf({ nodes, edges }: Chart): ChartTransition[] {
  return [...nodes.flatMap(({ loops }) => loops), ...edges.flatMap(({ transitions }) => transitions)];
}

/** Events that a state names come before those that it takes as any other. */
function transitionOf({ event, guard, from, to }: Step, transitions: readonly ChartTransition[]) {
  const fitting = transitions.filter((one) => one.guard === guard && one.from === from && one.to === to);
  return fitting.find((one) => one.event === event) ?? fitting.find((one) => one.event === '*');
}

function sumOf(occurrences: readonly Occurrences[]): Occurrences | undefined {
  if (occurrences.length === 0) return undefined;
  const count = occurrences.reduce((sum, one) => sum + one.count, 0);
  return { count, atMs: Math.max(...occurrences.map(({ atMs }) => atMs)) };
}

/** Whether the clock takes it, and no request. */
export function isByClock({ event }: ChartTransition): boolean {
  return event === '' || event === 'CLOCK';
}

/** The edge that the clock alone takes next: from a state, or from one that it is in. */
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
