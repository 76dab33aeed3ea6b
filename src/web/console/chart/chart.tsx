import '../../shared/chart/chart.css';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import type { Chart, Charts, ChartTransition } from '../../../protocol/operator/machine.ts';
import { reasonWords } from '../labels/sessions.ts';
import { Drawing } from './drawing.tsx';
import { momentOf, nextEdge, transitionsOf, type Moment } from './moment.ts';
import { takenText, titleOf, UTC, wordOf, type Words, type Zone } from './labels.ts';

export interface StateChartProps {
  /** The machine's id: `voice-session`. */
  readonly machine: string;
  readonly chart: Charts;
  readonly words: Words;
  /** The actor's current atomic state. */
  readonly state: string;
  /** What the actor did, newest first. */
  readonly events: readonly OperatorEvent[];
  /** The event to step back to; null shows the present. */
  readonly at: string | null;
  /** The server's time. */
  readonly now: number;
  /** When the clock alone moves the actor next, and to which state. */
  readonly deadline: { readonly at: string; readonly to: string } | null;
  readonly zone?: Zone;
}

const WIDE = 640;
/** At a smaller scale the drawing would be unreadable. */
const MIN_SCALE = 0.8;

/** What an actor did and does next, in the chart of its machine: at present, or after one of its events. */
export function StateChart(props: StateChartProps) {
  const { machine, chart: charts, words, state, events, at, now, deadline, zone = UTC } = props;
  const [stage, width] = useWidth<HTMLDivElement>();
  const isWide = width >= WIDE && width >= charts.right.width * MIN_SCALE;
  const chart = isWide ? charts.right : charts.down;
  const moment = momentOf(chart, state, events, at);
  const due = deadline === null || moment.isPast ? undefined : { atMs: Date.parse(deadline.at), to: deadline.to };
  const edge = due && nextEdge(chart, state, due.to);
  const next = due && edge && { edge, inMs: due.atMs - now };
  return (
    <figure class="chart" data-machine={machine}>
      <div ref={stage}>
        {width > 0 && (
          <Drawing {...{ chart, moment, next, words, zone }} sentence={sentenceOf(machine, chart, moment, due, zone)} />
        )}
      </div>
      <Step {...{ moment, words, zone }} />
      <Transitions {...{ machine, chart, moment, words, zone }} />
    </figure>
  );
}

interface Deadline {
  readonly atMs: number;
  readonly to: string;
}

/** The chart in words, for screen readers. It changes when something happens, but not with each second. */
function sentenceOf(machine: string, chart: Chart, moment: Moment, due: Deadline | undefined, zone: Zone): string {
  const { state, sinceMs, isPast } = moment;
  const time = (atMs: number): string => `${zone.timeOf(atMs)} ${zone.name}`;
  const nameOf = (id: string): string => chart.nodes.find((node) => node.id === id)?.name ?? id;
  const title = titleOf(machine);
  const since = sinceMs === undefined ? '' : ` since ${time(sinceMs)}`;
  const ways = chart.edges.flatMap(({ from, to, transitions }) => {
    const occurrences = moment.occurrencesOf(transitions);
    return occurrences === undefined
      ? []
      : [{ atMs: occurrences.atMs, text: `${nameOf(from)} to ${nameOf(to)} at ${time(occurrences.atMs)}` }];
  });
  const way = ways.toSorted((a, b) => a.atMs - b.atMs).map(({ text }) => text);
  return [
    `State chart of the ${title}: ${isPast ? 'then' : 'now'} ${state}${since}.`,
    ...(way.length === 0 ? [] : [`Its way: ${way.join('; ')}.`]),
    ...(due === undefined ? [] : [`Next: ${due.to} at ${time(due.atMs)}.`]),
  ].join(' ');
}

/** The event that was stepped back to, or the newest: what was asked, what refused it, and the result. Screen readers announce changes. */
function Step({ moment: { event, isPast }, words, zone }: Pick<TransitionsProps, 'moment' | 'words' | 'zone'>) {
  return (
    <div class={isPast ? 'chart-step past' : 'chart-step'} aria-live="polite" aria-atomic="true">
      {event !== undefined && (
        <>
          <p class="event">
            <span class="when">
              {isPast ? 'Then' : 'Last'} <time dateTime={event.at}>{zone.timeOf(Date.parse(event.at))}</time>{' '}
              {zone.name}
            </span>{' '}
            <code>{event.event}</code> <span class="word">{wordOf(event.event ?? '', words)}</span>
          </p>
          <p class="guards">
            {event.guards.map(({ name, passed }, index) => (
              <span key={`${index} ${name}`} class={passed ? 'guard passed' : 'guard failed'}>
                <span class="asked">
                  <code>{name}</code>
                  <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
                  <span class="unseen">{passed ? ' yes, ' : ' no, '}</span>
                </span>{' '}
                <span class="word">{wordOf(name, words)}</span>{' '}
              </span>
            ))}
            <span class="outcome">
              <span aria-hidden="true">→ </span>
              {outcomeOf(event)}
            </span>
          </p>
        </>
      )}
    </div>
  );
}

function outcomeOf({ kind, to, detail }: OperatorEvent): string {
  const { reason } = detail;
  const because = kind === 'ended' && typeof reason === 'string' && reason !== to ? `: ${reasonWords(reason)}` : '';
  return `${kind === 'stayed' ? 'stayed ' : ''}${to}${because}`;
}

interface TransitionsProps {
  readonly machine: string;
  readonly chart: Chart;
  readonly moment: Moment;
  readonly words: Words;
  readonly zone: Zone;
}

/** The chart as a table: every transition, including those that stay in their state. */
function Transitions({ machine, chart, moment, words, zone }: TransitionsProps) {
  const all = transitionsOf(chart);
  const caption = `Every transition of the ${titleOf(machine)}, and when it was taken, in ${zone.name}`;
  return (
    <details class="chart-transitions">
      <summary>All {all.length} transitions</summary>
      <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {['From', 'To', 'Event', 'Guard', 'Taken'].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <Row key={`${one.from} ${one.to} ${one.event} ${one.guard}`} {...{ one, moment, words, zone }} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

interface RowProps extends Pick<TransitionsProps, 'moment' | 'words' | 'zone'> {
  readonly one: ChartTransition;
}

function Row({ one, moment, words, zone }: RowProps) {
  const { from, to, event, guard } = one;
  const occurrences = moment.occurrencesOf([one]);
  return (
    <tr class={occurrences === undefined ? '' : 'taken'}>
      <th scope="row">{from}</th>
      <td>{from === to ? 'stays' : to}</td>
      <td>
        <Named name={event} words={words} />
      </td>
      <td>{guard === null ? 'none' : <Named name={guard} words={words} />}</td>
      <td>{occurrences === undefined ? 'no' : takenText(occurrences, zone)}</td>
    </tr>
  );
}

function Named({ name, words }: { readonly name: string; readonly words: Words }) {
  return (
    <>
      {name !== '' && <code>{name}</code>} {wordOf(name, words)}
    </>
  );
}

/** Observes the width of an element; 0 until it is drawn. */
function useWidth<E extends HTMLElement>(): readonly [RefObject<E | null>, number] {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}
