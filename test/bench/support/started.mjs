/**
 * Starts parts one after the other and stops all that were started, whatever happens then.
 * @param work gets `start`, which takes a promise of a part with `stop()` and returns the part
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
    // In reverse order: later parts need earlier ones.
    for (const part of started) await part.stop();
  }
}
