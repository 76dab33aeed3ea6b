import type { Chart, ChartEdge, ChartNode } from '../../protocol/operator/machine.ts';
import { arrowOf, LINE, lineOf, placeOf } from '../shared/chart/path.ts';
import { toneOf, type Tone } from '../shared/chart/nodes.ts';

/** What is highlighted in a drawing. */
export interface Lit {
  /** The current atomic state; undefined before the first event. */
  readonly state: string | undefined;
  /** The edges taken so far. */
  readonly taken: ReadonlySet<string>;
  /** The edge taken last. */
  readonly last: string | undefined;
  /** The event or guard that caused the last edge to be taken. */
  readonly cause: string | undefined;
}

export interface Drawing {
  readonly element: SVGSVGElement;
  readonly light: (lit: Lit) => void;
  /** Shows how long the current state has lasted, in words. */
  readonly tell: (since: string) => void;
}

/** The shape of each state, 12 by 12. It says the same as the colour, for people who cannot see that. */
const shapes: Readonly<Record<Tone, string>> = {
  engaged: 'M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0z',
  idle: 'M6 1a5 5 0 0 0 0 10a5 5 0 0 0 0-10zM6 2.5a3.5 3.5 0 0 1 0 7z',
  stale: 'M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0zM2.5 6a3.5 3.5 0 1 1 7 0a3.5 3.5 0 1 1-7 0z',
  ended: 'M1.5 1.5h9v9h-9z',
};

export const edgeName = ({ from, to }: Pick<ChartEdge, 'from' | 'to'>): string => `${from} ${to}`;

function make<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Draws a chart as the build has laid it out. Its style comes from classes that the console uses too (../shared/chart/chart.css). */
export function draw({ width, height, nodes, edges }: Chart, words: Readonly<Record<string, string>>): Drawing {
  const states = nodes.filter(({ kind }) => kind === 'state' || kind === 'final').map(drawState);
  const lines = edges.map((edge) => ({ name: edgeName(edge), element: drawLine(edge) }));
  const labels = edges.map((edge) => ({ name: edgeName(edge), element: drawLabel(edge, words) }));
  const layer = make('g', {}, ...lines.map(({ element }) => element));
  const element = make(
    'svg',
    { class: 'chart-drawing', width, height, viewBox: `0 0 ${width} ${height}` },
    ...nodes.filter(({ kind }) => kind === 'group').map(drawGroup),
    layer,
    ...nodes.filter(({ kind }) => kind === 'start').map(drawStart),
    ...states.map((state) => state.element),
    ...labels.map((label) => label.element),
  );
  return {
    element,
    light({ state, taken, last, cause }) {
      for (const one of states) one.light(one.name === state);
      for (const { name, element } of [...lines, ...labels]) {
        element.classList.toggle('taken', taken.has(name));
        element.classList.toggle('step', name === last);
        for (const word of element.querySelectorAll<SVGElement>('.word'))
          word.classList.toggle('taken', name === last && word.dataset['cause'] === cause);
      }
      // Edges that were taken lie above those that were not.
      for (const { name, element } of lines) if (taken.has(name)) layer.append(element);
    },
    tell(since) {
      for (const one of states) one.tell(since);
    },
  };
}

function drawGroup({ x, y, width, height, name }: ChartNode): SVGElement {
  const title = make('text', { x: x + 10, y: y + 18 }, name);
  return make('g', { class: 'group' }, make('rect', { x, y, width, height, rx: 10 }), title);
}

function drawStart({ x, y, width, height }: ChartNode): SVGElement {
  return make('circle', { class: 'start', cx: x + width / 2, cy: y + height / 2, r: width / 2 - 1 });
}

function drawLine({ points }: ChartEdge): SVGElement {
  const line = make('path', { class: 'line', d: lineOf(points) });
  return make('g', { class: 'edge' }, line, make('path', { class: 'arrow', d: arrowOf(points) }));
}

function drawLabel(edge: ChartEdge, words: Readonly<Record<string, string>>): SVGElement {
  const { label, lines } = edge;
  if (label === null) return make('g', {});
  const { x, top, anchor } = placeOf(edge, label, label.height - lines.length * LINE);
  const texts = lines.map((line, index) =>
    make('text', { class: 'word', 'data-cause': line, x, y: top + 12 + index * LINE }, words[line] ?? line),
  );
  return make('g', { class: 'label', 'text-anchor': anchor }, ...texts);
}

function drawState(node: ChartNode) {
  const { x, y, width, height, name } = node;
  const tone = toneOf(node);
  const middle = y + height / 2;
  const mark = make('g', { class: 'mark' }, make('path', { d: shapes[tone], 'fill-rule': 'evenodd' }));
  const title = make('text', { class: 'name', x: x + 29 }, name);
  const below = make('text', { class: 'since', x: x + 11, y: middle + 14 });
  const box = make('rect', { x, y, width, height, rx: 8 });
  const element = make('g', { class: `node state-${tone}` }, box, mark, title, below);

  function light(isLit: boolean): void {
    element.classList.toggle('lit', isLit);
    // Leaves room below the name for how long the state has lasted.
    title.setAttribute('y', String(middle + (isLit ? -3 : 5)));
    mark.setAttribute('transform', `translate(${x + 11} ${middle - (isLit ? 14 : 6)})`);
    below.textContent = '';
  }

  light(false);
  const tell = (since: string): void => {
    if (element.classList.contains('lit')) below.textContent = since;
  };
  return { name, element, light, tell };
}
