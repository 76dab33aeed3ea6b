/** A client that misses one heartbeat may have a slow network; a longer silence than this is worth knowing. */
export function longestSilenceMs(heartbeatIntervalSec: number): number {
  return 2 * heartbeatIntervalSec * 1000;
}
