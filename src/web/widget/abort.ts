/** Does the work when the signal aborts, or now when it has: unless `unless` aborts before. */
export function atEnd(signal: AbortSignal, work: () => void, unless?: AbortSignal): void {
  if (signal.aborted) work();
  else signal.addEventListener('abort', work, { signal: unless });
}

/** Settles as the work does, or fails with the signal's reason when that aborts first. */
export function untilAborted<T>(work: T | Promise<T>, signal: AbortSignal): Promise<T> {
  return Promise.race([work, new Promise<never>((_, reject) => atEnd(signal, () => reject(signal.reason as Error)))]);
}
