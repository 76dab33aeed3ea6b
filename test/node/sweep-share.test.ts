import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SweepShare } from '../../src/node/nodes.ts';
import type { OperatorNode } from '../../src/protocol/operator/node.ts';
import { ManualClock } from '../support/clock.ts';
import { examples } from '../support/examples.ts';

const PARTS = Array.from({ length: 256 }, (_, part) => part);
const ROUND_MS = 500;

const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `node-${n}-${(n * 7919) % 1000}`);

/** The parts that a node sweeps in the current round, according to its own list of nodes. */
function partsOf(node: string, list: readonly string[], clock = new ManualClock(), isConnected = true): number[] {
  const nodes = { list: () => list.map((id) => ({ id }) as OperatorNode) };
  const share = new SweepShare({ node, nodes, bus: { isConnected }, clock }).present();
  return PARTS.filter((part) => share?.(part) ?? true);
}

/** The parts that no node sweeps in this round, when the nodes have these lists. */
function unswept(lists: ReadonlyMap<string, readonly string[]>, clock?: ManualClock): number[] {
  const swept = new Set([...lists].flatMap(([node, list]) => partsOf(node, list, clock)));
  return PARTS.filter((part) => !swept.has(part));
}

describe('The parts that a node sweeps', () => {
  test.each([
    [1, 256, 256],
    [2, 256, 256],
    [4, 140, 180],
    [16, 30, 66],
    [64, 1, 27],
  ])('are among %i nodes %i to %i of 256 in each round', (count, atLeast, atMost) => {
    const ids = named(count);
    const shares = ids.map((id) => partsOf(id, ids).length);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(atLeast);
    expect(Math.max(...shares)).toBeLessThanOrEqual(atMost);
    // Each part has two fixed nodes and one that changes every round.
    expect(shares.reduce((sum, parts) => sum + parts, 0)).toBeLessThanOrEqual(3 * 256);
  });

  test('are all while it does not know who is alive', () => {
    const ids = named(8);
    const [own = ''] = ids;
    expect(partsOf(own, ids, new ManualClock(), false)).toEqual(PARTS);
    expect(partsOf(own, ids.slice(1))).toEqual(PARTS);
    expect(partsOf(own, [])).toEqual(PARTS);
  });

  test('are in turn all of them, within as many rounds as there are nodes', () => {
    const ids = named(5);
    const [own = ''] = ids;
    const clock = new ManualClock();
    const seen = new Set<number>();
    for (const _ of ids) {
      for (const part of partsOf(own, ids, clock)) seen.add(part);
      clock.advance(ROUND_MS);
    }
    expect(seen.size).toBe(256);
  });

  test('move to others only where a node comes or goes', () => {
    const ids = named(9);
    const [newcomer = '', ...before] = ids;
    const clock = new ManualClock();
    // Leaves out what changes every round: a node's fixed parts are those that it sweeps in all rounds.
    const steadyOf = (node: string, list: readonly string[]): Set<number> => {
      const rounds = list.map((_, n) => new Set(partsOf(node, list, new ManualClock(clock.now() + n * ROUND_MS))));
      return new Set(PARTS.filter((part) => rounds.every((round) => round.has(part))));
    };
    const taken = steadyOf(newcomer, ids);
    for (const node of before) {
      const [then, now] = [steadyOf(node, before), steadyOf(node, ids)];
      expect([...now].filter((part) => !then.has(part))).toEqual([]);
      expect([...then].filter((part) => !now.has(part) && !taken.has(part))).toEqual([]);
    }
  });
});

describe('Every part is swept', () => {
  test('in every round while one node that died is still in the lists, however these differ otherwise', () => {
    const views = fc.record({
      count: fc.integer({ min: 2, max: 12 }),
      dead: fc.nat(11),
      unknown: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 }),
      round: fc.nat(1000),
    });
    const holds = fc.property(views, ({ count, dead, unknown, round }) => {
      const ids = named(count);
      const gone = ids[dead % count];
      const lists = new Map(ids.filter((id) => id !== gone).map((id) => [id, ids]));
      // Some nodes have not heard of some others, living or dead.
      for (const [who, whom] of unknown) {
        const [node = '', other] = [ids[who % count], ids[whom % count]];
        const list = lists.get(node);
        if (list !== undefined && other !== node)
          lists.set(
            node,
            list.filter((id) => id !== other),
          );
      }
      expect(unswept(lists, new ManualClock(round * ROUND_MS))).toEqual([]);
    });
    fc.assert(holds, examples(100));
  });

  test('within a second and a half when two nodes died at once that all still have in their lists', () => {
    const ids = named(6);
    for (const gone of [0, 1, 2, 3, 4]) {
      const living = ids.filter((_, n) => n !== gone && n !== gone + 1);
      const lists = new Map(living.map((id) => [id, ids]));
      const clock = new ManualClock();
      let left = PARTS;
      for (let round = 0; round < 3; round += 1) {
        const now = new Set(unswept(lists, clock));
        left = left.filter((part) => now.has(part));
        clock.advance(ROUND_MS);
      }
      expect(left).toEqual([]);
    }
  });

  test('when all nodes join at once and each knows itself alone', () => {
    const lists = new Map(named(4).map((id) => [id, [id]]));
    expect(unswept(lists)).toEqual([]);
  });
});
