import { Random } from './random.ts';

export const dependencyFaults = [
  'redis.freeze',
  'redis.restart',
  'redis.flush',
  'redis.cut',
  'redis.cutBus',
  'postgres.freeze',
  'postgres.restart',
  'postgres.terminate',
  'provider.hang',
  'provider.break',
  'mail.freeze',
] as const;
export const nodeFaults = ['node.kill', 'node.freeze', 'node.stop'] as const;

export type FaultKind = (typeof dependencyFaults)[number] | (typeof nodeFaults)[number];

/** One planned fault. */
export interface Step {
  readonly kind: FaultKind;
  /** Since the start of the campaign. */
  readonly atMs: number;
  /** How long the fault lasts, if it does; a killed node is started again after this time. */
  readonly forMs: number;
  /** The index of the node. */
  readonly node: number;
}

export interface Frame {
  readonly durationMs: number;
  readonly nodes: number;
  readonly hasRedis: boolean;
}

/** Time to warm up. Between two faults of dependencies: the three seconds that recovery may take, and two in which all must be well. */
const WARM_UP_MS = 4000;
const CALM_MS = 5000;
/** Pause between two faults of nodes, which fail one at a time but also while dependencies fail. */
const NODE_PAUSE_MS = 2500;
/** How long a node is away when only kills are planned. */
const KILLED_MS = 500;

/** The same seed and frame give the same plan. Every kind of fault comes once before any comes again. */
export function planFaults(seed: number, frame: Frame): Step[] {
  const random = new Random(seed);
  const kinds = dependencyFaults.filter((kind) => frame.hasRedis || !kind.startsWith('redis.'));
  const dependencies = track(random, kinds, frame, CALM_MS, () => random.between(1000, 4000));
  // A frozen node misses deadlines and ends; now and then it misses a session's whole life.
  const lengthOf = (kind: FaultKind): number => {
    if (kind !== 'node.freeze') return random.between(300, 1500);
    return random.chance(0.1) && frame.durationMs > 180_000 ? 60_000 : random.between(2000, 8000);
  };
  const nodes = track(random, ['node.kill', ...nodeFaults], frame, NODE_PAUSE_MS, lengthOf);
  return [...dependencies, ...nodes].sort((a, b) => a.atMs - b.atMs);
}

/** Only kills nodes, one at each interval, to see how soon other nodes do what the dead one should have done. */
export function planKills(seed: number, everyMs: number, { durationMs, nodes }: Frame): Step[] {
  const random = new Random(seed);
  const times = Array.from({ length: Math.ceil(durationMs / everyMs) }, (_, n) => WARM_UP_MS + n * everyMs);
  return times
    .filter((atMs) => atMs + KILLED_MS <= durationMs)
    .map((atMs) => ({ kind: 'node.kill', atMs, forMs: KILLED_MS, node: random.between(0, nodes - 1) }));
}

/** By how many milliseconds each node's clock is wrong: up to five minutes, the first (the only one without Redis) not at all. */
export function planSkews(seed: number, nodes: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: nodes }, (_, node) =>
    node === 0 ? 0 : (node % 2 === 0 ? 1 : -1) * random.between(60_000, 300_000),
  );
}

function track(
  random: Random,
  kinds: readonly FaultKind[],
  { durationMs, nodes }: Frame,
  pauseMs: number,
  lengthOf: (kind: FaultKind) => number,
): Step[] {
  const steps: Step[] = [];
  let bag: FaultKind[] = [];
  let atMs = WARM_UP_MS;
  for (;;) {
    if (bag.length === 0) bag = random.shuffled(kinds);
    const kind = bag.pop() as FaultKind;
    const forMs = lengthOf(kind);
    if (atMs + forMs > durationMs) return steps;
    steps.push({ kind, atMs, forMs, node: random.between(0, nodes - 1) });
    atMs += forMs + pauseMs + random.between(0, 1000);
  }
}
