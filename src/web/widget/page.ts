/**
 * Tells when the page may have been asleep (hidden tabs have late timers, frozen ones none, sleeping machines neither) or has
 * another network, and when the visitor leaves: a page that the browser keeps for the Back button has been left too.
 * @param signal ends it
 */
export function watchPage(signal: AbortSignal, onWake: () => void, onLeave: () => void): void {
  if (typeof document === 'undefined') return;
  // Some are the document's: the window hears of them before it.
  const listen = (type: string, heard: () => void): void => addEventListener(type, heard, { signal, capture: true });
  for (const type of ['visibilitychange', 'resume', 'pageshow', 'online']) listen(type, onWake);
  listen('pagehide', onLeave);
}
