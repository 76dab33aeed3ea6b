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

/** Resolves when the work has, and after `ms` at the latest. @throws what the work throws within that time */
export async function withTimeout(ms: number, work: Promise<unknown>, after = deadline): Promise<void> {
  let callOff = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    callOff = after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    callOff();
  }
}
