import type { Chart } from '../../../protocol/operator/machine.ts';
import type { Moment } from './moment.ts';
import { titleOf, type Zone } from './words.ts';

export interface Due {
  readonly atMs: number;
  readonly to: string;
}

/** A chart for whoever does not see it. It changes when something happens, and not with each second. */
export function sentenceOf(machine: string, chart: Chart, moment: Moment, due: Due | undefined, zone: Zone): string {
  const { state, sinceMs, isPast } = moment;
  const time = (atMs: number): string => `${zone.timeOf(atMs)} ${zone.name}`;
  const nameOf = (id: string): string => chart.nodes.find((node) => node.id === id)?.name ?? id;
  const title = titleOf(machine);
  const since = sinceMs === undefined ? '' : ` since ${time(sinceMs)}`;
  const ways = chart.edges.flatMap(({ from, to, transitions }) => {
    const taken = moment.taken(transitions);
    return taken === undefined
      ? []
      : [{ atMs: taken.atMs, text: `${nameOf(from)} to ${nameOf(to)} at ${time(taken.atMs)}` }];
  });
  const way = ways.toSorted((a, b) => a.atMs - b.atMs).map(({ text }) => text);
  return [
    `State chart of the ${title}: ${isPast ? 'then' : 'now'} ${state}${since}.`,
    ...(way.length === 0 ? [] : [`Its way: ${way.join('; ')}.`]),
    ...(due === undefined ? [] : [`Next: ${due.to} at ${time(due.atMs)}.`]),
  ].join(' ');
}
