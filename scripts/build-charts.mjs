/**
 * Draws the charts of the machines for operators, as data: the places of states, the lines of the edges between them, and the events and
 * guards of each edge. Pages fill in the words and highlight what happened.
 */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Its modification time is the start of the build that wrote it. */
export const charts = join(root, 'dist/charts.json');

/** What the charts are made of: the machines, the words for them, and the defaults, by which the size of labels is computed. */
export const chartSources = [
  'machines',
  'src/operators/machines',
  ...['auth', 'calls', 'sessions'].map((feature) => `src/${feature}/variables.ts`),
  'scripts/build-charts.mjs',
  'package-lock.json',
].map((name) => join(root, name));

/** Pixels of the drawing at its full size; src/web/shared/chart/chart.css sets the sizes of its text. */
const LETTER = 6;
const LINE = 15;
const NAME_LETTER = 8.6;
/** Below its name a state shows since when it is active, or how often and when an event left it unchanged. */
const STATE = { width: 96, widthWithLoops: 116, height: 44 };
const START = { width: 14, height: 14 };
/** The line below a label: when an edge was taken, or when it will be. */
const NOTE = { width: 66, height: 14 };

const spacing = {
  'elk.spacing.nodeNode': 20,
  'elk.spacing.edgeNode': 10,
  'elk.spacing.edgeEdge': 10,
  'elk.spacing.edgeLabel': 3,
  'elk.layered.spacing.nodeNodeBetweenLayers': 14,
  'elk.layered.spacing.edgeNodeBetweenLayers': 10,
  'elk.layered.spacing.edgeEdgeBetweenLayers': 10,
};

const pathOf = (state) => state.path.join('.');

/** The atomic state that a machine is in after entering `state`. */
function leafOf(state) {
  const initial = state.initial?.target[0];
  return initial === undefined ? state : leafOf(initial);
}

/** All states nested in a state, parents before children. */
function statesBelow(state) {
  return Object.values(state.states).flatMap((child) => [child, ...statesBelow(child)]);
}

/** What a state does with an event; `isOneOf`: whether its guard decides between several transitions for that event. */
function transitionsOf(state) {
  const lists = [...state.transitions.values(), state.always ?? []];
  return lists.flatMap((list) =>
    list.map(({ eventType, guard, target }) => ({
      event: eventType,
      guard: (typeof guard === 'object' ? guard.type : guard) ?? null,
      from: pathOf(state),
      to: pathOf(target?.[0] ?? state),
      leaf: target?.[0] === undefined ? undefined : pathOf(leafOf(target[0])),
      isOneOf: list.length > 1,
    })),
  );
}

/** What distinguishes one transition from another: the guard if the clock acts or the guard decides, otherwise the event. */
function lineOf({ event, guard, isOneOf }) {
  const isByGuard = guard !== null && (isOneOf || event === '' || event === 'CLOCK');
  return isByGuard ? guard : event;
}

const published = ({ event, guard, from, to }) => ({ event, guard, from, to });

/** All transitions from one state to another as one edge; those that stay in a state belong to the state. */
function edgesOf(machine) {
  const edges = new Map();
  const loops = new Map();
  for (const transition of statesBelow(machine.root).flatMap(transitionsOf)) {
    const { from, leaf } = transition;
    if (leaf === undefined || leaf === from) {
      loops.set(from, [...(loops.get(from) ?? []), published(transition)]);
      continue;
    }
    const id = `${from}>${leaf}`;
    const edge = edges.get(id) ?? { id, from, to: leaf, lines: [], transitions: [] };
    edge.lines = [...new Set([...edge.lines, lineOf(transition)])];
    edge.transitions.push(published(transition));
    edges.set(id, edge);
  }
  return { edges: [...edges.values()], loops };
}

/** The state before the first event; undefined for a machine of parallel regions. */
function startOf(machine) {
  const leaf = leafOf(machine.root);
  return leaf.type === 'parallel' ? undefined : leaf;
}

function kindOf(state, machine) {
  if (state === startOf(machine)) return 'start';
  if (Object.keys(state.states).length > 0) return 'group';
  return state.type === 'final' ? 'final' : 'state';
}

/** A state and its nested states, for ELK. @param layout for what is in it */
function boxOf(state, machine, loops, layout) {
  const id = pathOf(state);
  const kind = kindOf(state, machine);
  if (kind === 'start') return { id, ...START };
  if (kind === 'state' || kind === 'final') {
    const least = loops.has(id) ? STATE.widthWithLoops : STATE.width;
    return { id, width: Math.max(least, state.key.length * NAME_LETTER + 40), height: STATE.height };
  }
  return {
    id,
    children: Object.values(state.states).map((child) => boxOf(child, machine, loops, layout)),
    layoutOptions: { ...layout, 'elk.padding': `[top=${TITLE},left=10,bottom=10,right=10]` },
  };
}

function labelOf(lines, words) {
  const longest = Math.max(...lines.map((line) => words[line].length));
  return {
    text: lines.join(),
    width: Math.max(NOTE.width, longest * LETTER + 6),
    height: lines.length * LINE + NOTE.height,
  };
}

const round = (value) => Math.round(value * 2) / 2;
const boxIn = ({ x, y, width, height }) => ({ x: round(x), y: round(y), width: round(width), height: round(height) });

/** ELK's boxes by the paths of their states. */
function boxesBelow({ children = [] }) {
  return children.flatMap((child) => [[child.id, child], ...boxesBelow(child)]);
}

/** Pixels at the top of a group, for its name. */
const TITLE = 28;

const common = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  ...spacing,
};

const across = { ...common, 'elk.direction': 'RIGHT' };
const down = { ...common, 'elk.direction': 'DOWN' };
/** Takes as little width as possible, at the cost of lines that bend. */
const packed = {
  ...down,
  'elk.spacing.nodeNode': 12,
  'elk.layered.nodePlacement.strategy': 'SIMPLE',
  'elk.layered.edgeLabels.sideSelection': 'ALWAYS_UP',
};
/** Puts no more than two states side by side. */
const pairs = {
  ...packed,
  'elk.layered.layering.strategy': 'COFFMAN_GRAHAM',
  'elk.layered.layering.coffmanGraham.layerBound': 2,
};

/** The widest drawing that a phone of 390 pixels shows at 80 % of its size; anything smaller is unreadable (src/web/console/chart/chart.tsx). */
const PHONE_WIDTH = 430;

const moved = ({ x, y, ...rest }, by) => ({ ...rest, x: x + by.x, y: y + by.y });

function movedEdge({ sections: [{ startPoint, bendPoints = [], endPoint }], labels, ...rest }, by) {
  const section = {
    startPoint: moved(startPoint, by),
    bendPoints: bendPoints.map((point) => moved(point, by)),
    endPoint: moved(endPoint, by),
  };
  return { ...rest, sections: [section], labels: labels?.map((label) => moved(label, by)) };
}

/**
 * Where ELK puts states, nested states, and the edges between them. Parallel regions have no edges between them, and are drawn one below
 * the other.
 */
async function place(elk, roots, { machine, words }, layout) {
  const { edges, loops } = edgesOf(machine);
  const start = startOf(machine);
  const regions = new Map();
  for (const state of roots.filter(({ type }) => type === 'parallel'))
    regions.set(pathOf(state), await placeRegions(elk, state, { machine, words }, layout));
  const here = new Set(
    roots.flatMap((state) => [state, ...(regions.has(pathOf(state)) ? [] : statesBelow(state))]).map(pathOf),
  );
  const laid = await elk.layout({
    id: 'chart',
    layoutOptions: layout,
    children: roots.map((state) => {
      const region = regions.get(pathOf(state));
      return region === undefined
        ? boxOf(state, machine, loops, layout)
        : { id: pathOf(state), width: region.width, height: region.height };
    }),
    edges: edges
      .filter(({ from, to }) => here.has(from) && here.has(to))
      .map(({ id, from, to, lines }) => ({
        id,
        sources: [from],
        targets: [to],
        labels: start !== undefined && from === pathOf(start) ? [] : [labelOf(lines, words)],
      })),
  });
  const placed = { width: laid.width, height: laid.height, boxes: boxesBelow(laid), edges: laid.edges };
  for (const [path, region] of regions) {
    const [, by] = placed.boxes.find(([id]) => id === path);
    placed.boxes.push(...region.boxes.map(([id, box]) => [id, moved(box, by)]));
    placed.edges.push(...region.edges.map((edge) => movedEdge(edge, by)));
  }
  return placed;
}

async function placeRegions(elk, parent, told, layout) {
  const placed = { width: 0, height: TITLE, boxes: [], edges: [] };
  for (const region of Object.values(parent.states)) {
    const { width, height, boxes, edges } = await place(elk, [region], told, layout);
    const by = { x: 0, y: placed.height };
    placed.boxes.push(...boxes.map(([id, each]) => [id, moved(each, by)]));
    placed.edges.push(...edges.map((edge) => movedEdge(edge, by)));
    placed.width = Math.max(placed.width, width);
    placed.height += height;
  }
  return placed;
}

async function draw(elk, told, layout) {
  const { machine } = told;
  const { edges, loops } = edgesOf(machine);
  const states = statesBelow(machine.root);
  const laid = await place(elk, Object.values(machine.root.states), told, layout);
  const boxes = new Map(laid.boxes);
  const drawn = new Map(laid.edges.map((edge) => [edge.id, edge]));
  return {
    width: round(laid.width),
    height: round(laid.height),
    nodes: states.map((state) => ({
      id: pathOf(state),
      name: state.key,
      kind: kindOf(state, machine),
      ...boxIn(boxes.get(pathOf(state))),
      loops: loops.get(pathOf(state)) ?? [],
    })),
    edges: edges.map(({ id, ...edge }) => {
      const { sections, labels } = drawn.get(id);
      const [{ startPoint, bendPoints = [], endPoint }] = sections;
      const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => ({ x: round(x), y: round(y) }));
      return { ...edge, points, label: labels?.[0] === undefined ? null : boxIn(labels[0]) };
    }),
  };
}

/**
 * The first drawing that fits on a phone. If several states in a row follow the same one, the vertical drawing can be the wider one.
 * @throws Error if none fits
 */
async function drawNarrow(elk, told, right) {
  for (const attempt of [
    () => draw(elk, told, down),
    () => right,
    () => draw(elk, told, packed),
    () => draw(elk, told, pairs),
  ]) {
    const drawing = await attempt();
    if (drawing.width <= PHONE_WIDTH) return drawing;
  }
  throw new Error(`the chart of ${told.machine.id} is wider than a phone`);
}

/** @param {Date} startedAt the file's modification time, so that a change during the build makes it stale */
export async function buildCharts(startedAt) {
  const [{ runnerImport }, { default: Elk }] = await Promise.all([import('vite'), import('elkjs/lib/elk.bundled.js')]);
  const load = async (path) => (await runnerImport(join(root, path), { root, configFile: false })).module;
  const { drawnMachines } = await load('src/operators/machines/machines.ts');
  const { readConfig } = await load('config/config.ts');
  const elk = new Elk();
  const drawn = [];
  // With other settings some labels are a little longer than their boxes.
  for (const told of drawnMachines(readConfig({}))) {
    const right = await draw(elk, told, across);
    const narrow = await drawNarrow(elk, told, right);
    // Regions are one below the other, because pages have no room for regions side by side.
    drawn.push([told.machine.id, { right: startOf(told.machine) === undefined ? narrow : right, down: narrow }]);
  }
  await writeFile(charts, JSON.stringify(Object.fromEntries(drawn)));
  await utimes(charts, startedAt, startedAt);
}
