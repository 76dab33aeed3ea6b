/** A client that misses one heartbeat may have a slow network; a longer silence than this is worth noting. */
export function longestSilenceMs(heartbeatIntervalSec: number): number {
  return 2 * heartbeatIntervalSec * 1000;
}
