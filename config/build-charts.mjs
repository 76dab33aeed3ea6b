/**
 * Draws the charts of the machines that operators are shown, as data: where states are, which way the edges between them go, and which
 * events and guards each edge stands for. Pages fill in the words and light what happened.
 */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Dated by the start of the build that made it. */
export const charts = join(root, 'dist/charts.json');

/** What the charts are drawn from, beside the machines. */
export const chartSources = ['machines', 'src/operator', 'config/build-charts.mjs', 'package-lock.json'].map((name) =>
  join(root, name),
);

/** Labels get room for the words of these; longer figures reach a little beyond it. They are those by default (docs/operations.md). */
const limits = {
  voice: { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 },
  calls: { graceSec: 30, unheardSec: 20 },
  otp: { expiryMinutes: 10, maxAttempts: 5 },
  auth: { expiryHours: 24, absoluteHours: 720 },
};

/** Pixels of the drawing at its full size; src/web/shared/chart/chart.css sets the sizes of its text. */
const LETTER = 6;
const LINE = 15;
const NAME_LETTER = 8.6;
/** Below its name a state has the time since when, or how often and when something happened that did not move it. */
const STATE = { width: 96, widthWithLoops: 116, height: 44 };
const START = { width: 14, height: 14 };
/** What is written below a label: when an edge was taken, or when it will be. */
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

/** The state in which a machine is that enters `state`. */
function leafOf(state) {
  const initial = state.initial?.target[0];
  return initial === undefined ? state : leafOf(initial);
}

/** The states below one, each after the one it is in. */
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

/** What tells one way from another: the guard where the clock acts or the guard decides, else the event. */
function lineOf({ event, guard, isOneOf }) {
  const isByGuard = guard !== null && (isOneOf || event === '' || event === 'CLOCK');
  return isByGuard ? guard : event;
}

const published = ({ event, guard, from, to }) => ({ event, guard, from, to });

/** All transitions from one state to another as one edge; those that stay where they are are of their state. */
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

function kindOf(state, machine) {
  if (state === leafOf(machine.root)) return 'start';
  if (Object.keys(state.states).length > 0) return 'group';
  return state.type === 'final' ? 'final' : 'state';
}

/** A state for ELK, with those in it. */
function boxOf(state, machine, loops) {
  const id = pathOf(state);
  const kind = kindOf(state, machine);
  if (kind === 'start') return { id, ...START };
  if (kind === 'state' || kind === 'final') {
    const least = loops.has(id) ? STATE.widthWithLoops : STATE.width;
    return { id, width: Math.max(least, state.key.length * NAME_LETTER + 40), height: STATE.height };
  }
  return {
    id,
    children: Object.values(state.states).map((child) => boxOf(child, machine, loops)),
    layoutOptions: { 'elk.padding': '[top=28,left=10,bottom=10,right=10]', ...spacing },
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

/** Boxes of ELK by the paths of their states. */
function boxesBelow({ children = [] }) {
  return children.flatMap((child) => [[child.id, child], ...boxesBelow(child)]);
}

async function draw(elk, { machine, words }, direction) {
  const { edges, loops } = edgesOf(machine);
  const states = statesBelow(machine.root);
  const start = pathOf(leafOf(machine.root));
  const laid = await elk.layout({
    id: 'chart',
    layoutOptions: {
      'elk.algorithm': 'layered',
      'elk.direction': direction,
      'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
      'elk.edgeRouting': 'ORTHOGONAL',
      'elk.padding': '[top=8,left=8,bottom=8,right=8]',
      'elk.json.edgeCoords': 'ROOT',
      'elk.json.shapeCoords': 'ROOT',
      ...spacing,
    },
    children: Object.values(machine.root.states).map((state) => boxOf(state, machine, loops)),
    edges: edges.map(({ id, from, to, lines }) => ({
      id,
      sources: [from],
      targets: [to],
      labels: from === start ? [] : [labelOf(lines, words)],
    })),
  });
  const boxes = new Map(boxesBelow(laid));
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

/** @param {Date} startedAt dates the file, so that a change during the build makes it stale */
export async function buildCharts(startedAt) {
  const [{ runnerImport }, { default: Elk }] = await Promise.all([import('vite'), import('elkjs/lib/elk.bundled.js')]);
  const { module } = await runnerImport(join(root, 'src/operator/machines.ts'), { root, configFile: false });
  const elk = new Elk();
  const drawn = [];
  for (const told of module.toldMachines(limits)) {
    const [right, down] = [await draw(elk, told, 'RIGHT'), await draw(elk, told, 'DOWN')];
    // States in a row that all come from one make what goes down the wider one.
    drawn.push([told.machine.id, { right, down: down.width > right.width ? right : down }]);
  }
  await writeFile(charts, JSON.stringify(Object.fromEntries(drawn)));
  await utimes(charts, startedAt, startedAt);
}
