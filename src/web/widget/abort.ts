/** Runs `work` now if the signal has aborted, otherwise when it aborts, unless `unless` aborts first. */
export function atEnd(signal: AbortSignal, work: () => void, unless?: AbortSignal): void {
  if (signal.aborted) work();
  else signal.addEventListener('abort', work, { signal: unless });
}

/** Settles as `work` does, or rejects with the signal's reason if the signal aborts first. */
export function untilAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([work, new Promise<never>((_, reject) => atEnd(signal, () => reject(signal.reason as Error)))]);
}
