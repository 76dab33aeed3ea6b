/**
 * Starts parts one after the other, so that all that were started are stopped, whatever happens then.
 * @param work gets `start`, which takes a promise of a part with `stop()` and hands it on
 */
export async function withParts(work) {
  const started = [];
  try {
    return await work(async (part) => {
      const begun = await part;
      started.unshift(begun);
      return begun;
    });
  } finally {
    // In reverse order: what was started last needs what was started before it.
    for (const part of started) await part.stop();
  }
}
