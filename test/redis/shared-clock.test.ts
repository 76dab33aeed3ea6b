import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClockStep } from '../../src/kernel/time.ts';
import { ElapsedTime, MAX_SLEW } from '../../src/stores/clock/node-time.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { ClockAgreement, ClockLeads } from '../../src/stores/clock/contract.ts';
import { createSharedClock, type SharedClock } from '../../src/stores/clock/shared-clock.ts';
import { createInProcessSlots } from '../../src/stores/in-process.ts';
import { MINUTE, NOON, SECOND } from '../support/clock.ts';

const SYNC = 5 * SECOND;

/** The surroundings of all nodes: one true time, two stores whose clocks tests set, and nodes that may be paused. */
class World {
  trueMs = NOON;
  /** By how much each store's clock is wrong. */
  readonly wrongMs = { registry: 0, database: 0 };
  readonly away = new Set<'registry' | 'database'>();
  thereMs = 0;
  backMs = 0;
  #agreed = { version: 0, vouched: 0, vouchedAtMs: 0, leads: undefined as ClockLeads | undefined };

  node(wrongMs = 0, isAlone = false): Node {
    return new Node(this, wrongMs, isAlone);
  }

  async ask<T>(store: 'registry' | 'database', answer: () => T): Promise<T> {
    if (this.away.has(store)) throw new Unavailable(store);
    this.trueMs += this.thereMs;
    const told = answer();
    await Promise.resolve();
    this.trueMs += this.backMs;
    return told;
  }

  readonly agreements = {
    read: () =>
      this.ask('database', (): ClockAgreement => {
        const databaseMs = this.trueMs + this.wrongMs.database;
        const { vouchedAtMs, ...rest } = this.#agreed;
        return { ...rest, databaseMs, vouchedAgoMs: databaseMs - vouchedAtMs };
      }),
    vouch: () => this.ask('database', () => this.#vouch()),
    note: (leads: ClockLeads, version: number) =>
      this.ask('database', () => {
        if (version !== this.#agreed.version) return false;
        this.#agreed.leads = leads;
        this.#agreed.version += 1;
        this.#vouch();
        return true;
      }),
  };

  #vouch(): void {
    this.#agreed.vouched += 1;
    this.#agreed.vouchedAtMs = this.trueMs + this.wrongMs.database;
  }
}

class Node {
  readonly clock: SharedClock;
  readonly steps: ClockStep[] = [];
  readonly #world: World;
  /** For how long the machine's monotonic clock stood still, and how much of that its uptime includes. */
  #stoodMs = 0;
  #sleptMs = 0;

  constructor(world: World, wrongMs: number, isAlone: boolean) {
    this.#world = world;
    this.clock = createSharedClock({
      readStoreTimeMs: () => world.ask('registry', () => world.trueMs + world.wrongMs.registry),
      ...(isAlone ? {} : { agreements: world.agreements }),
      local: { now: () => world.trueMs + wrongMs },
      elapsed: new ElapsedTime(
        () => world.trueMs - this.#stoodMs,
        () => world.trueMs - this.#stoodMs + this.#sleptMs,
      ),
      onStep: (step) => void this.steps.push(step),
    });
  }

  get errorMs(): number {
    return this.clock.now() - this.#world.trueMs;
  }

  /** The virtual machine is paused: nothing on it notices. */
  standStill(ms: number): void {
    this.#stoodMs += ms;
    this.#world.trueMs += ms;
  }

  /** The machine is suspended, which its uptime shows. */
  sleep(ms: number): void {
    this.standStill(ms);
    this.#sleptMs += ms;
  }

  async sync(): Promise<void> {
    await this.clock.sync().catch(() => undefined);
  }
}

/** Lets time pass while every node asks the stores at its usual interval. */
async function pass(world: World, ms: number, nodes: readonly Node[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += SYNC) {
    world.trueMs += Math.min(SYNC, ms - passed);
    for (const node of nodes) await node.sync();
  }
}

async function worldOf(count: number): Promise<{ world: World; nodes: readonly Node[] }> {
  const world = new World();
  const nodes = Array.from({ length: count }, (_, index) => world.node(index * MINUTE));
  for (let round = 0; round < 2; round += 1) await pass(world, SYNC, nodes);
  return { world, nodes };
}

describe('the shared clock', () => {
  test('nodes whose clocks differ by minutes agree', async () => {
    for (const wrongMs of [-7 * MINUTE, 0, 3 * MINUTE]) {
      const node = new World().node(wrongMs);
      await node.sync();
      expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(1);
    }
  });

  test('the error is never more than half of a round trip', async () => {
    const ms = fc.integer({ min: 0, max: 300 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -10 * MINUTE, max: 10 * MINUTE }),
        fc.array(fc.record({ thereMs: ms, backMs: ms }), { minLength: 1 }),
        async (wrongMs, trips) => {
          const world = new World();
          const node = world.node(wrongMs, true);
          for (const trip of trips) {
            Object.assign(world, trip);
            await node.sync();
          }
          const longest = Math.max(...trips.map(({ thereMs, backMs }) => thereMs + backMs));
          expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(longest / 2 + 1);
        },
      ),
    );
  });

  test('a reading with a long round trip is weighed against better recent ones', async () => {
    const { world, nodes } = await worldOf(1);
    world.thereMs = 400;
    await nodes[0]?.sync();
    world.trueMs += SYNC;
    expect(Math.abs(nodes[0]?.errorMs ?? NaN)).toBeLessThanOrEqual(1);
  });

  test('it starts and goes on without any store', async () => {
    const world = new World();
    world.away.add('registry').add('database');
    const node = world.node(MINUTE);
    await node.sync();
    world.trueMs += MINUTE;
    expect(node.errorMs).toBe(MINUTE);
    world.away.clear();
    await node.sync();
    expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(1);
  });

  test('a live store whose clock is set is not followed, neither by running nodes nor by nodes that start later', async () => {
    for (const step of [20 * SECOND, -MINUTE, 90 * MINUTE]) {
      const { world, nodes } = await worldOf(3);
      world.wrongMs.registry = step;
      const late = world.node();
      await pass(world, 2 * SYNC, nodes);
      await pass(world, 2 * SYNC, [...nodes, late]);
      for (const node of [...nodes, late]) expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(20);
      expect(nodes.flatMap(({ steps }) => steps)).toEqual([{ of: 'registry', ms: expect.closeTo(step, -2) as number }]);
      expect(nodes[0]?.clock.leadMs).toBeCloseTo(-step, -2);
    }
  });

  test('it approaches the time of a store that was set so slowly that no duration is wrong by more than a thousandth', async () => {
    const { world, nodes } = await worldOf(2);
    world.wrongMs.registry = 2 * SECOND;
    for (let minute = 0; minute < 80; minute += 1) {
      const before = nodes.map(({ clock }) => clock.now());
      await pass(world, MINUTE, nodes);
      for (const [index, { clock }] of nodes.entries())
        expect(Math.abs(clock.now() - (before[index] ?? NaN) - MINUTE)).toBeLessThanOrEqual(MINUTE * MAX_SLEW + 1);
    }
    for (const { errorMs } of nodes) expect(Math.abs(errorMs - 2 * SECOND)).toBeLessThanOrEqual(5);
    for (const { clock } of nodes) expect(clock.leadMs).toBe(0);
  });

  test('a step that the database cannot confirm waits for the database', async () => {
    const { world, nodes } = await worldOf(2);
    world.away.add('database');
    world.wrongMs.registry = 20 * SECOND;
    await pass(world, MINUTE, nodes);
    for (const { errorMs } of nodes) expect(Math.abs(errorMs)).toBeLessThanOrEqual(1);
    world.away.clear();
    await pass(world, MINUTE, nodes);
    for (const { errorMs } of nodes) expect(Math.abs(errorMs)).toBeLessThanOrEqual(60);
    expect(nodes.flatMap(({ steps }) => steps)).toHaveLength(1);
  });

  test('a database whose clock is set changes nothing, and a node that starts without the live store has the time of the others', async () => {
    const { world, nodes } = await worldOf(2);
    world.wrongMs.database = -3 * MINUTE;
    await pass(world, 2 * SYNC, nodes);
    world.away.add('registry');
    const late = world.node();
    await pass(world, SYNC, [...nodes, late]);
    for (const node of [...nodes, late]) expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(1);
  });

  test('stores whose clocks are set together are not followed: no node vouches for their time', async () => {
    const { world, nodes } = await worldOf(3);
    world.wrongMs.registry = world.wrongMs.database = 20 * SECOND;
    await pass(world, MINUTE, nodes);
    for (const { errorMs } of nodes) expect(Math.abs(errorMs)).toBeLessThanOrEqual(60);
  });

  test('a node that was paused is set forward, because others vouch for the time that it missed', async () => {
    const { world, nodes } = await worldOf(3);
    const [still, ...others] = nodes;
    still?.standStill(20 * SECOND);
    await pass(world, 3 * SYNC, [...others, ...nodes.slice(0, 1)]);
    for (const { errorMs } of nodes) expect(Math.abs(errorMs)).toBeLessThanOrEqual(10);
    expect(still?.steps).toEqual([{ of: 'node', ms: expect.closeTo(20 * SECOND, -2) as number }]);
  });

  test('time for which a machine was suspended counts at once, without asking anyone', async () => {
    const { world, nodes } = await worldOf(1);
    world.away.add('registry').add('database');
    nodes[0]?.sleep(MINUTE);
    await nodes[0]?.sync();
    expect(Math.abs(nodes[0]?.errorMs ?? NaN)).toBeLessThanOrEqual(1);
  });

  test('a start after all nodes were gone for a minute takes the time of the live store as it is', async () => {
    const { world, nodes } = await worldOf(1);
    world.wrongMs.registry = 20 * SECOND;
    await pass(world, 2 * SYNC, nodes);
    world.trueMs += 2 * MINUTE;
    const fresh = world.node();
    await fresh.sync();
    expect(Math.abs(fresh.errorMs - 20 * SECOND)).toBeLessThanOrEqual(1);
  });
});

describe('the clock of a process alone', () => {
  test('goes on when the clock of its machine is set, and comes back slowly', async () => {
    const world = new World();
    const node = world.node(0, true);
    await node.sync();
    for (const step of [20 * SECOND, -MINUTE]) {
      world.wrongMs.registry += step;
      world.trueMs += SYNC;
      await node.sync();
      expect(Math.abs(node.errorMs)).toBeLessThanOrEqual(SYNC * MAX_SLEW * 2);
    }
    expect(node.steps.map(({ of }) => of)).toEqual(['registry', 'registry']);
  });
});

/** What may happen to clocks: a store's clock is set, time passes and nodes ask, or a store goes away and comes back. */
const happening = fc.oneof(
  fc.record({ store: fc.constantFrom('registry', 'database'), byMs: fc.integer({ min: -MINUTE, max: MINUTE }) }),
  fc.record({ node: fc.nat({ max: 2 }), afterMs: fc.integer({ min: 100, max: SYNC }) }),
  fc.record({ node: fc.nat({ max: 2 }), afterMs: fc.integer({ min: 100, max: SYNC }) }),
  fc.record({ toggled: fc.constantFrom('registry', 'database') }),
);

type Happening = typeof happening extends fc.Arbitrary<infer H> ? H : never;

async function happen(one: Happening, world: World, nodes: readonly Node[]): Promise<void> {
  if ('byMs' in one) world.wrongMs[one.store] += one.byMs;
  else if ('node' in one) {
    world.trueMs += one.afterMs;
    await nodes[one.node]?.sync();
  } else {
    const store = one.toggled;
    if (!world.away.delete(store)) world.away.add(store);
  }
}

describe('whatever the clocks of stores do', () => {
  test('a duration is wrong by a thousandth at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
        const { world, nodes } = await worldOf(3);
        const beganMs = world.trueMs;
        const began = nodes.map(({ clock }) => clock.now());
        for (const one of happenings) {
          await happen(one, world, nodes);
          const passedMs = world.trueMs - beganMs;
          for (const [index, { clock }] of nodes.entries()) {
            const measuredMs = clock.now() - (began[index] ?? NaN);
            expect(Math.abs(measuredMs - passedMs)).toBeLessThanOrEqual(passedMs * MAX_SLEW + 2);
          }
        }
      }),
    );
  });

  test('nodes that were paused meanwhile agree with the others within a minute', async () => {
    const pause = fc.record({ paused: fc.nat({ max: 2 }), forMs: fc.integer({ min: 0, max: MINUTE }) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(happening, pause), { maxLength: 40 }), async (happenings) => {
        const { world, nodes } = await worldOf(3);
        for (const one of happenings) {
          if ('paused' in one) nodes[one.paused]?.standStill(one.forMs);
          else await happen(one, world, nodes);
        }
        world.away.clear();
        await pass(world, MINUTE, nodes);
        const times = nodes.map(({ clock }) => clock.now());
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(300);
      }),
    );
  });

  test('no slot is given twice: a lease lasts for its full time', async () => {
    const LIMIT = 5;
    const LEASE = 30 * SECOND;
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 60 }), async (happenings) => {
        const { world, nodes } = await worldOf(3);
        const slots = createInProcessSlots();
        const takenAtMs: number[] = [];
        for (const [index, one] of happenings.entries()) {
          await happen(one, world, nodes);
          const atMs = nodes[index % nodes.length]?.clock.now() ?? NaN;
          if (slots.take('subject', `holder ${index}`, LIMIT, atMs + LEASE, atMs)) takenAtMs.push(world.trueMs);
          const slackMs = (world.trueMs - NOON) * MAX_SLEW + 2;
          const held = takenAtMs.filter((tookMs) => world.trueMs - tookMs < LEASE - slackMs * 2);
          expect(held.length).toBeLessThanOrEqual(LIMIT);
        }
      }),
    );
  });
});
