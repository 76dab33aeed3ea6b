/**
 * Calls `late` once `ms` have passed, unless it is cancelled. A process that stalled finds its timers due before it has read what arrived meanwhile,
 * so the sockets are read once more first: an answer that came in time is never late.
 * @returns a function that cancels it
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

/** Resolves when the work does, after `ms` at the latest. @throws what the work throws within that time */
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
