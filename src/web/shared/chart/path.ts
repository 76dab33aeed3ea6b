import type { ChartEdge } from '../../../protocol/operator/machine.ts';

type Point = ChartEdge['points'][number];

const CORNER = 6;
const ARROW = { length: 8, half: 4 };
/** The largest distance at which ELK puts a label beside its line. */
const NEAR = 10;

const lengthOf = (a: Point, b: Point): number => Math.hypot(b.x - a.x, b.y - a.y);

/** The point on the way from `from` to `to` at this distance from `from`. */
function towards(from: Point, to: Point, distance: number): Point {
  const share = distance / (lengthOf(from, to) || 1);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

const text = ({ x, y }: Point): string => `${x} ${y}`;

/** The SVG path through the points, with rounded corners, up to where the arrow begins. */
export function lineOf(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const [before, after] = [points[index - 1], points[index + 1]];
      if (before === undefined) return `M${text(point)}`;
      if (after === undefined) return `L${text(towards(point, before, ARROW.length - 1))}`;
      const corner = Math.min(CORNER, lengthOf(before, point) / 2, lengthOf(point, after) / 2);
      return `L${text(towards(point, before, corner))}Q${text(point)} ${text(towards(point, after, corner))}`;
    })
    .join('');
}

/** The SVG path of the arrow at the end of a line. */
export function arrowOf(points: readonly Point[]): string {
  const [end, before] = [points.at(-1), points.at(-2)];
  if (end === undefined || before === undefined) return '';
  const base = towards(end, before, ARROW.length);
  const [dx, dy] = [((end.x - base.x) / ARROW.length) * ARROW.half, ((end.y - base.y) / ARROW.length) * ARROW.half];
  return `M${text(end)}L${base.x - dy} ${base.y + dx}L${base.x + dy} ${base.y - dx}z`;
}

type Label = NonNullable<ChartEdge['label']>;

/** The height of a line of a label; scripts/build-charts.mjs leaves room for it. */
export const LINE = 15;

/** Where the text of a label is written: aligned towards its line. @param free the height of the label that its text does not need */
export function placeOf({ points }: ChartEdge, label: Label, free: number) {
  const side = sideOf(points, label);
  const middle = { x: label.x + label.width / 2, anchor: 'middle' } as const;
  const { x, anchor } = {
    above: middle,
    below: middle,
    left: { x: label.x + label.width - 3, anchor: 'end' } as const,
    right: { x: label.x + 3, anchor: 'start' } as const,
  }[side];
  return { x, anchor, top: label.y + { above: free, below: 0, left: free / 2, right: free / 2 }[side] };
}

/** On which side of its line a label is. */
function sideOf(points: readonly Point[], label: Label): 'above' | 'below' | 'left' | 'right' {
  const [left, top] = [label.x, label.y];
  const [right, bottom] = [left + label.width, top + label.height];
  const segments = points.slice(1).map((point, index) => [points[index] ?? point, point] as const);
  const spans = (a: number, b: number, from: number, to: number): boolean =>
    Math.min(a, b) <= (from + to) / 2 && Math.max(a, b) >= (from + to) / 2;
  const isNear = (distance: number): boolean => distance >= -1 && distance <= NEAR;
  for (const [a, b] of segments) {
    if (a.y === b.y && spans(a.x, b.x, left, right)) {
      if (isNear(a.y - bottom)) return 'above';
      if (isNear(top - a.y)) return 'below';
    }
    if (a.x === b.x && spans(a.y, b.y, top, bottom)) {
      if (isNear(a.x - right)) return 'left';
      if (isNear(left - a.x)) return 'right';
    }
  }
  return 'below';
}
