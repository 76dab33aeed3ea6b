/**
 * Calls `late` once `ms` have passed, unless it is called off. A process that stalled finds its timers due before it has read what came
 * meanwhile, so the sockets are read once more first: what was answered in time is never late.
 * @returns the way to call it off
 */
export function deadline(ms: number, late: () => void): () => void {
  let isOff = false;
  const timer = setTimeout(
    () =>
      setImmediate(() => {
        if (!isOff) late();
      }),
    ms,
  );
  return () => {
    isOff = true;
    clearTimeout(timer);
  };
}
