import type { DrawnMachine } from '../../protocol/site-data.ts';
import type { ChartEdge } from '../../protocol/operator/machine.ts';
import { nodeNamed } from '../shared/chart/nodes.ts';
import { draw, edgeName, type Drawing } from './drawing.ts';
import { clock, element, say } from './elements.ts';
import type { EndReason, RequestedEnd } from '../../protocol/session.ts';

/** One machine's chart on the page: its current state, the edge that led there, and since when. */
export class MachineChart {
  readonly #name: string;
  readonly #machine: DrawnMachine;
  readonly #stage: HTMLElement;
  readonly #step: HTMLElement;
  /** One for wide pages and one for narrow ones; the style sheet shows the one that fits. */
  readonly #drawings: readonly Drawing[];
  #state: string | undefined;
  #taken: readonly ChartEdge[] = [];
  #cause: string | undefined;
  #sinceMs = 0;

  /** @param id the id of the element that holds the drawing; the element with `-step` appended shows the last step */
  constructor(id: string, name: string, machine: DrawnMachine) {
    this.#name = name;
    this.#machine = machine;
    this.#stage = element(id, HTMLElement);
    this.#step = element(`${id}-step`, HTMLElement);
    const { right, down } = machine.charts;
    this.#drawings = [draw(right, machine.words), draw(down, machine.words)];
    this.#stage.replaceChildren(...this.#drawings.map((drawing) => drawing.element));
    this.clear();
  }

  /** Resets the chart to before the first event. */
  clear(): void {
    this.#state = undefined;
    this.#taken = [];
    this.#show();
  }

  /** @param cause the machine's event or guard that led there, if several can and the page knows which */
  enter(state: string, cause?: string): void {
    if (state === this.#state) return;
    const edge = this.#edgeTo(state, cause);
    this.#taken = edge === undefined ? this.#taken : [...this.#taken, edge];
    this.#cause = cause ?? (edge?.lines.length === 1 ? edge.lines[0] : undefined);
    this.#state = state;
    this.#sinceMs = Date.now();
    this.#show();
  }

  get state(): string | undefined {
    return this.#state;
  }

  /** Must be called about once a second. */
  tick(): void {
    if (this.#state === undefined) return;
    const for_ = clock(Math.max(0, Math.floor((Date.now() - this.#sinceMs) / 1000)));
    for (const drawing of this.#drawings) drawing.tell(`for ${for_}`);
    say(this.#step, `${this.#lastStep()}, ${for_} ago`);
  }

  #edgeTo(state: string, cause: string | undefined): ChartEdge | undefined {
    const chart = this.#machine.charts.right;
    const target = nodeNamed(chart, state)?.id;
    const start = chart.nodes.find(({ kind }) => kind === 'start');
    const present = this.#state === undefined ? start?.id : nodeNamed(chart, this.#state)?.id;
    const edges = chart.edges.filter(({ to }) => to === target);
    return (
      edges.find(({ lines }) => cause !== undefined && lines.includes(cause)) ??
      edges.find(({ from }) => from === present) ??
      edges.find(({ from }) => present?.startsWith(`${from}.`))
    );
  }

  #show(): void {
    const last = this.#taken.at(-1);
    const taken = new Set(this.#taken.map(edgeName));
    for (const drawing of this.#drawings)
      drawing.light({ state: this.#state, taken, last: last && edgeName(last), cause: this.#cause });
    this.#stage.dataset['state'] = this.#state ?? 'none';
    this.#stage.ariaLabel = this.#sentence();
    say(this.#step, '');
    this.tick();
  }

  /** The chart in words, for screen readers. It changes with each step but not with each second. */
  #sentence(): string {
    const names = this.#machine.charts.right.nodes
      .filter(({ kind }) => kind === 'state' || kind === 'final')
      .map(({ name }) => name);
    const chart = `State chart of ${this.#name}: ${names.join(', ')}.`;
    if (this.#state === undefined) return `${chart} Not started.`;
    const at = new Date(this.#sinceMs).toLocaleTimeString('en-GB');
    return `${chart} Now ${this.#state}, since ${at}. Last step: ${this.#lastStep()}.`;
  }

  /** For example `engaged → ended: asked to end`. */
  #lastStep(): string {
    const last = this.#taken.at(-1);
    const name = (id = ''): string => id.slice(id.lastIndexOf('.') + 1);
    const why = this.#cause === undefined ? '' : `: ${this.#machine.words[this.#cause]}`;
    return last === undefined ? 'unknown' : `${name(last.from)} → ${name(last.to)}${why}`;
  }
}

/** The event or guard in the machine's chart for each end reason. All other reasons are requested by somebody (`END`). */
const causes: Readonly<Record<string, string>> = {
  duration_exceeded: 'isPastDuration',
  idle_exceeded: 'HEARTBEAT',
  abandoned: 'isAbandoned',
} satisfies Record<Exclude<EndReason, RequestedEnd>, string>;

/** The event or guard that ended a session; undefined for a session that the server does not know. */
export function causeOf(reason: string): string | undefined {
  return reason === 'not_found' ? undefined : (causes[reason] ?? 'END');
}
