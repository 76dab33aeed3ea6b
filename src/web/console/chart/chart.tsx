import '../../shared/chart/chart.css';
import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import type { Charts } from '../../../protocol/operator/machine.ts';
import { Drawing } from './drawing.tsx';
import { momentOf, nextEdge } from './moment.ts';
import { sentenceOf } from './sentence.ts';
import { Step } from './step.tsx';
import { Transitions } from './transitions.tsx';
import { useWidth } from './width.ts';
import { UTC, type Words, type Zone } from './words.ts';

export interface StateChartProps {
  /** Its id: `voice-session`. */
  readonly machine: string;
  readonly chart: Charts;
  readonly words: Words;
  /** The innermost state in which the actor is now. */
  readonly state: string;
  /** What it did, the newest first. */
  readonly events: readonly OperatorEvent[];
  /** The event to step back to; null shows it as it is now. */
  readonly at: string | null;
  /** The server's time. */
  readonly now: number;
  /** When the clock alone moves it next, and to which state. */
  readonly deadline: { readonly at: string; readonly to: string } | null;
  readonly zone?: Zone;
}

const WIDE = 640;
/** A drawing that had to be smaller than this could not be read. */
const SMALLEST = 0.8;

/** What an actor did, and does next, in the chart of its machine: now, or after one of its events. */
export function StateChart(props: StateChartProps) {
  const { machine, chart: charts, words, state, events, at, now, deadline, zone = UTC } = props;
  const [stage, width] = useWidth<HTMLDivElement>();
  const isWide = width >= WIDE && width >= charts.right.width * SMALLEST;
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
