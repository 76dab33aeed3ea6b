// What a process holds of memory, once its garbage is collected.
import { firstMatch } from './measure.mjs';

/** Flags of a Node that can be asked. */
export const memoryFlags = [`--import=${new URL('tell-memory.mjs', import.meta.url).href}`];

const LOOK_AGAIN_MS = 250;
/** Between two looks at a process that is at rest. */
const SAME_BYTES = 200_000;
const MAX_LOOKS = 60;

/** After a collection of garbage, in bytes: `{ rss, heap }`. */
export async function memoryOf(child) {
  const printed = firstMatch(child, /memory (\{.*\})\n/, 60);
  child.kill('SIGUSR2');
  return JSON.parse((await printed)[1]);
}

/** The same once nothing moves any more: what was written behind answers is written, and the collector has given back what it will. */
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
