/**
 * Tells when the page may have been asleep (hidden tabs have late timers, frozen ones none, sleeping machines neither) or has
 * another network, and when the visitor leaves: a page that the browser keeps for the Back button has been left too.
 * @returns a function that stops
 */
export function watchPage(onWake: () => void, onLeave: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const heard = new AbortController();
  const { signal } = heard;
  const seen = (): void => {
    if (!document.hidden) onWake();
  };
  document.addEventListener('visibilitychange', seen, { signal });
  document.addEventListener('resume', onWake, { signal });
  addEventListener('pageshow', onWake, { signal });
  addEventListener('online', onWake, { signal });
  addEventListener('pagehide', onLeave, { signal });
  return () => heard.abort();
}
