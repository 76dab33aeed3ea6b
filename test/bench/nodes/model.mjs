/**
 * How many times as much two nodes serve as one does. A heartbeat takes CPU of its node and of Redis, which is single-threaded and shared.
 * With a core for each process, the busier of the node's core and Redis' core limits what one node serves. Each of two nodes has half of the
 * heartbeats, so there the busier of one node's core and Redis' core is the limit:
 *
 *   one = 1 / max(node1, redis1)      two = 1 / max(node2 / 2, redis2)
 *
 * While Redis does not limit a single node, two / one = 2 * (node1 / node2) / max(1, 2 * redis2 / node2): twice as many, less what
 * a heartbeat costs more on nodes that share, and less what Redis cannot keep up with. PostgreSQL is left out: what a heartbeat leaves for it
 * is written after the answer, many at once, by a server with more than one core.
 * @param one, two microseconds of CPU per heartbeat, of its node and of Redis: `{ nodeUs, redisUs }`
 */
export function gainOfSecond(one, two) {
  return Math.max(one.nodeUs, one.redisUs) / Math.max(two.nodeUs / 2, two.redisUs);
}

/** Heartbeats per second where everything shares cores: the busiest core is the limit. @param cores microseconds of each core per heartbeat */
export function servedBy(cores) {
  return 1e6 / Math.max(...cores);
}
