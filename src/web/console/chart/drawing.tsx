import type { Chart, ChartEdge, ChartNode } from '../../../protocol/operator/machine.ts';
import { nodeNamed, toneOf } from '../../shared/chart/nodes.ts';
import { arrowOf, LINE, lineOf, placeOf } from '../../shared/chart/path.ts';
import { STATE_SHAPES } from '../components/status-marks.tsx';
import { isByClock, type Moment } from './moment.ts';
import { countdownText, takenText, wordOf, type Words, type Zone } from './labels.ts';

const NOTE = 14;

/** The edge that the clock takes next, and the time until then. */
interface Next {
  readonly edge: ChartEdge;
  readonly inMs: number;
}

interface DrawingProps {
  readonly chart: Chart;
  readonly moment: Moment;
  readonly next: Next | undefined;
  readonly words: Words;
  readonly zone: Zone;
  readonly sentence: string;
}

/** A chart that highlights what happened. Its style comes from classes, because pages must not have style attributes. */
export function Drawing({ chart, moment, next, words, zone, sentence }: DrawingProps) {
  const { width, height, nodes, edges } = chart;
  const groups = nodes.filter(({ kind }) => kind === 'group');
  const states = nodes.filter(({ kind }) => kind !== 'group');
  const lit = nodeNamed(chart, moment.state)?.id ?? '';
  const weight = (edge: ChartEdge): number =>
    (moment.occurrencesOf(edge.transitions) === undefined ? 0 : 1) + (moment.isStep(edge.transitions) ? 1 : 0);
  // Edges that were taken lie above those that were not.
  const ordered = edges.toSorted((a, b) => weight(a) - weight(b));
  const nextOf = (edge: ChartEdge): Next | undefined => (next?.edge === edge ? next : undefined);
  return (
    <svg
      class="chart-drawing"
      role="img"
      aria-label={sentence}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
    >
      {groups.map((group) => (
        <Group key={group.id} group={group} isLit={lit.startsWith(`${group.id}.`)} />
      ))}
      {ordered.map((edge) => (
        <Line key={`${edge.from} ${edge.to}`} edge={edge} moment={moment} next={nextOf(edge)} />
      ))}
      {states.map((node) => (
        <State key={node.id} node={node} isLit={node.id === lit} moment={moment} zone={zone} />
      ))}
      {ordered.map((edge) => (
        <Label
          key={`${edge.from} ${edge.to}`}
          edge={edge}
          moment={moment}
          next={nextOf(edge)}
          words={words}
          zone={zone}
        />
      ))}
    </svg>
  );
}

function Group({ group, isLit }: { readonly group: ChartNode; readonly isLit: boolean }) {
  const { x, y, width, height, name } = group;
  return (
    <g class={isLit ? 'group lit' : 'group'}>
      <rect x={x} y={y} width={width} height={height} rx="10" />
      <text x={x + 10} y={y + 18}>
        {name}
      </text>
    </g>
  );
}

interface EdgeProps {
  readonly edge: ChartEdge;
  readonly moment: Moment;
  readonly next: Next | undefined;
}

function looksOf({ edge, moment, next }: EdgeProps): string {
  return [
    ...(moment.occurrencesOf(edge.transitions) === undefined ? [] : ['taken']),
    ...(moment.isStep(edge.transitions) ? ['step'] : []),
    ...(next === undefined ? [] : ['next']),
  ].join(' ');
}

function Line(props: EdgeProps) {
  const { points, from, to } = props.edge;
  return (
    <g class={`edge ${looksOf(props)}`} data-edge={`${from} ${to}`}>
      <path class="line" d={lineOf(points)} />
      <path class="arrow" d={arrowOf(points)} />
    </g>
  );
}

/** What an edge means, and below it when it was or will be taken. */
function Label({ words, zone, ...props }: EdgeProps & { readonly words: Words; readonly zone: Zone }) {
  const { edge, moment, next } = props;
  const { label, lines, transitions } = edge;
  if (label === null) return null;
  const occurrences = moment.occurrencesOf(transitions);
  const note = next === undefined ? occurrences && takenText(occurrences, zone) : countdownText(next.inMs);
  const { x, top, anchor } = placeOf(edge, label, note === undefined ? NOTE : 0);
  return (
    <g class={`label ${looksOf(props)}`} text-anchor={anchor}>
      {lines.map((line, index) => (
        <text key={line} class={looksOfWord(line, props)} x={x} y={top + 12 + index * LINE}>
          {wordOf(line, words)}
        </text>
      ))}
      {note !== undefined && (
        <text class="note" x={x} y={top + 12 + lines.length * LINE}>
          {note}
        </text>
      )}
    </g>
  );
}

/** If several transitions share an edge: whether this one was or will be taken. */
function looksOfWord(line: string, { edge: { transitions }, moment, next }: EdgeProps): string {
  const ofLine = transitions.filter(({ event, guard }) => event === line || guard === line);
  if (moment.occurrencesOf(ofLine) !== undefined) return 'word taken';
  return next !== undefined && ofLine.some(isByClock) ? 'word due' : 'word';
}

interface StateProps {
  readonly node: ChartNode;
  readonly isLit: boolean;
  readonly moment: Moment;
  readonly zone: Zone;
}

function State({ node, isLit, moment, zone }: StateProps) {
  const { id, x, y, width, height, name, kind, loops } = node;
  if (kind === 'start') return <circle class="start" cx={x + width / 2} cy={y + height / 2} r={width / 2 - 1} />;
  const stays = moment.occurrencesOf(loops);
  const since = isLit ? moment.sinceMs : undefined;
  const below = stays === undefined ? since && zone.timeOf(since) : `↻ ${takenText(stays, zone)}`;
  const middle = y + height / 2;
  const tone = toneOf(node);
  return (
    <g class={`node state-${tone} ${isLit ? 'lit' : ''}`} data-state={id} data-lit={isLit}>
      <rect x={x} y={y} width={width} height={height} rx="8" />
      <g class="mark" transform={`translate(${x + 11} ${middle - (below === undefined ? 6 : 14)})`}>
        {STATE_SHAPES[tone]}
      </g>
      <text class="name" x={x + 29} y={middle + (below === undefined ? 5 : -3)}>
        {name}
      </text>
      {below !== undefined && (
        <text class="since" x={x + 11} y={middle + 14}>
          {below}
        </text>
      )}
    </g>
  );
}
