import { beforeAll, describe, expect, test } from 'vitest';
import type { Chart, ChartEdge, ChartNode, OperatorMachine } from '../../src/protocol/operator/machine.ts';
import { MACHINES } from '../../src/stores/journal/contract.ts';
import { service, type TestApp } from '../support/app.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build, buildForFile } = useApps();
const PATH = '/api/operator/machines';

let app: TestApp;
let machines: readonly OperatorMachine[];
beforeAll(async () => {
  app = await buildForFile({ env: { MAX_SESSION_IDLE_SEC: '90' } });
  ({ machines } = (await app.get(PATH, service)).body as unknown as { machines: OperatorMachine[] });
});

const machineNamed = (name: string): OperatorMachine => {
  const found = machines.find(({ id }) => id === name);
  if (found === undefined) throw new Error(`no machine ${name}`);
  return found;
};

const routeOf = ({ from, to }: ChartEdge): string => `${from} > ${to}`;
const everyChart = (): Chart[] => machines.flatMap(({ charts }) => [charts.right, charts.down]);

function contains(outer: ChartNode, { x, y, width, height }: ChartNode): boolean {
  return outer.x <= x && outer.y <= y && outer.x + outer.width >= x + width && outer.y + outer.height >= y + height;
}

function overlap(one: ChartNode, other: ChartNode): boolean {
  const apart = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !apart && one.y < other.y + other.height && other.y < one.y + one.height;
}

describe('The operator API shows the machines', () => {
  test('whose events are stored, and that of held calls, with their definitions and the limits of this installation', () => {
    expect(machines.map(({ id }) => id)).toEqual([...MACHINES, 'held-call', 'tool-call', 'webhook-endpoint', 'budget']);
    expect(machineNamed('voice-session')).toMatchObject({
      definition: { id: 'voice-session', states: { live: { states: { engaged: { always: expect.any(Array) } } } } },
      words: { hasGoneIdle: 'silent > 90 s' },
    });
  });

  test('with a version that does not depend on the limits', async () => {
    const other = await (await build({ env: { MAX_SESSION_IDLE_SEC: '91' } })).get(PATH, service);
    const versions = (other.body as unknown as { machines: OperatorMachine[] }).machines.map(({ version }) => version);
    expect(versions).toEqual(machines.map(({ version }) => version));
    expect(new Set(versions).size).toBe(versions.length);
  });

  test('to operators, but not again to those who already have them', async () => {
    const first = await app.get(PATH, service);
    expect(first.headers['cache-control']).toBe('no-store');
    const again = await app.get(PATH, { ...service, 'if-none-match': String(first.headers['etag']) });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(errorOf(await app.get(PATH, { 'if-none-match': String(first.headers['etag']) }))).toMatchObject({
      code: 'AUTH_REQUIRED',
    });
  });
});

describe('A chart', () => {
  test('has one edge for all ways from one state to another, each to the innermost state', () => {
    const { right } = machineNamed('voice-session').charts;
    expect(right.edges.map(routeOf).toSorted()).toEqual([
      'live > ended',
      'live.dormant > ended',
      'live.dormant.idle > live.dormant.stale',
      'live.dormant.stale > ended',
      'live.engaged > ended',
      'live.engaged > live.dormant.idle',
      'unopened > live.engaged',
    ]);
    const { edges } = machineNamed('otp-challenge').charts.right;
    expect(edges.find((edge) => routeOf(edge) === 'pending > expired')).toMatchObject({
      lines: ['hasExpired'],
      transitions: [{ event: 'REDEEM' }, { event: 'SUPERSEDE' }, { event: 'CLOCK' }],
    });
  });

  test('names on an edge what decides: the guard if the event has several or the clock acts, otherwise the event', () => {
    const { edges } = machineNamed('voice-call').charts.right;
    const lines = Object.fromEntries(edges.map((edge) => [routeOf(edge), edge.lines]));
    expect(lines).toMatchObject({
      'creating > open': ['READY'],
      'open > closing': ['OVER', 'CLOSE', 'isPastProvidersEnd', 'isGivenUp'],
      'closing > closed': ['CREATE_FAILED', 'provesOver', 'isHangupGivenUp', 'isGivenUp'],
    });
  });

  test('lists with a state the transitions that stay in it', () => {
    const pending = machineNamed('otp-challenge').charts.down.nodes.find(({ id }) => id === 'pending');
    expect(pending?.loops).toEqual([
      { event: 'REDEEM', guard: 'isKeptForAsker', from: 'pending', to: 'pending' },
      { event: 'REDEEM', guard: null, from: 'pending', to: 'pending' },
    ]);
  });

  test('has every transition of its machine once, and words for everything that it names', () => {
    for (const { definition, charts, words } of machines)
      for (const { nodes, edges } of [charts.right, charts.down]) {
        const all = [...nodes.flatMap(({ loops }) => loops), ...edges.flatMap(({ transitions }) => transitions)];
        expect(all).toHaveLength(transitionsIn(definition));
        expect(edges.flatMap(({ lines }) => lines).filter((line) => words[line] === undefined)).toEqual([]);
      }
  });

  test('draws states inside those that contain them, and apart from all others', () => {
    const isWithin = (one: ChartNode, other: ChartNode): boolean => one.id.startsWith(`${other.id}.`);
    const wrong = everyChart().flatMap(({ nodes }) =>
      nodes.flatMap((one) =>
        nodes
          .filter((other) => one !== other && !isWithin(other, one))
          .filter((other) => (isWithin(one, other) ? !contains(other, one) : overlap(one, other)))
          .map((other) => `${one.id} ${other.id}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  test('fits a page in one form and the width of a phone in the other, with regions one below the other', () => {
    for (const { id, charts } of machines) {
      expect(charts.right.width, id).toBeLessThanOrEqual(900);
      expect(charts.down.width, id).toBeLessThanOrEqual(430);
      expect(charts.down.height, id).toBeLessThanOrEqual(id === 'held-call' ? 2000 : 570);
    }
  });
});

/** How many transitions a definition contains. */
function transitionsIn(config: object): number {
  const {
    on = {},
    always,
    states = {},
  } = config as {
    readonly on?: Readonly<Record<string, unknown>>;
    readonly always?: unknown;
    readonly states?: Readonly<Record<string, object>>;
  };
  const lists = [...Object.values(on), ...(always === undefined ? [] : [always])];
  const below = Object.values(states).map(transitionsIn);
  return [...lists.map((list) => [list].flat().length), ...below].reduce((sum, count) => sum + count, 0);
}
