// How much memory a process uses after a garbage collection.
import { firstMatch } from './measure.mjs';

/** Flags for a Node process whose memory `memoryOf` can read. */
export const memoryFlags = [`--import=${new URL('tell-memory.mjs', import.meta.url).href}`];

const LOOK_AGAIN_MS = 250;
/** A process whose memory changes by less than this between two looks is at rest. */
const SAME_BYTES = 200_000;
const MAX_LOOKS = 60;

/** Memory after a garbage collection, in bytes: `{ rss, heap }`. */
export async function memoryOf(child) {
  const printed = firstMatch(child, /memory (\{.*\})\n/, 60);
  child.kill('SIGUSR2');
  return JSON.parse((await printed)[1]);
}

/** The same once it no longer changes: background writes are done, and the collector has given back what it can. */
export async function settledMemory(child) {
  let before = await memoryOf(child);
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    const now = await memoryOf(child);
    if (Math.abs(now.rss - before.rss) < SAME_BYTES && Math.abs(now.heap - before.heap) < SAME_BYTES) return now;
    before = now;
  }
  throw new Error(`memory did not come to rest: ${JSON.stringify(before)}`);
}
