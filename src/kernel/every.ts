/**
 * Repeats some work, never two runs at once: the next begins `intervalMs` after the last has ended. Faults go to `onError`, and the work goes on.
 * @returns a function that stops it and waits for work that is under way.
 */
export function every(
  intervalMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      running = work()
        .then(() => undefined, onError)
        .finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return running;
  };
}
