/**
 * What two nodes serve, of what one serves. A heartbeat takes CPU of its node and of Redis, which does one thing at a time and is shared.
 * With a core for each, one node serves as many as the busier of its core and Redis' core has time for, and two nodes, which have half of
 * the heartbeats each, as many as the busier of a node's core and Redis' core has time for:
 *
 *   one = 1 / max(node1, redis1)      two = 1 / max(node2 / 2, redis2)
 *
 * While Redis is not what holds one node up, that is two / one = 2 * (node1 / node2) / max(1, 2 * redis2 / node2): twice as many, less what
 * a heartbeat costs more where nodes share, and less what Redis cannot follow. PostgreSQL is not in it: what a heartbeat leaves for it is
 * written behind the answer, many at once, by a server that has more than one core.
 * @param one, two microseconds of CPU a heartbeat, of its node and of Redis: `{ nodeUs, redisUs }`
 */
export function gainOfSecond(one, two) {
  return Math.max(one.nodeUs, one.redisUs) / Math.max(two.nodeUs / 2, two.redisUs);
}

/** Heartbeats a second where everything shares cores: as many as the busiest core has time for. @param cores what each does for one */
export function servedBy(cores) {
  return 1e6 / Math.max(...cores);
}
