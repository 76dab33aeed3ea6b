import { describe, expect, test } from 'vitest';
import { createNodeIdentity } from '../../src/node/this-node.ts';

describe('The identity of a node', () => {
  const nodes = Array.from({ length: 2000 }, () => createNodeIdentity());

  test('is another one for each process', () => {
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
    expect(new Set(nodes.map(({ requestPrefix }) => requestPrefix)).size).toBe(nodes.length);
  });

  test('has one of 63 shards, and never the one that belongs to no node', () => {
    expect(new Set(nodes.map(({ shard }) => shard))).toEqual(new Set(Array.from({ length: 63 }, (_, n) => n + 1)));
  });

  test('begins its request ids so that they can be put into a path and a header', () => {
    for (const { requestPrefix } of nodes) expect(requestPrefix).toMatch(/^[\w-]{8}$/);
  });
});
