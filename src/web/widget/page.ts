/**
 * Calls `onWake` when the page may have been asleep (timers are late in hidden tabs and stop in frozen ones and on sleeping computers) or has
 * another network, and `onLeave` when the visitor leaves. A page that the browser keeps for the Back button counts as left.
 * @param signal stops watching
 */
export function watchPage(signal: AbortSignal, onWake: () => void, onLeave: () => void): void {
  if (typeof document === 'undefined') return;
  // Some of these events are the document's. With `capture`, the window hears them too.
  const listen = (type: string, heard: () => void): void => addEventListener(type, heard, { signal, capture: true });
  for (const type of ['visibilitychange', 'resume', 'pageshow', 'online']) listen(type, onWake);
  listen('pagehide', onLeave);
}
