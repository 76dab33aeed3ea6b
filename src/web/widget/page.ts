/**
 * Tells when the page may have been asleep (hidden tabs have late timers, frozen ones none, sleeping machines neither) or has
 * another network, and when it closes. A page that the browser keeps for the Back button is not closed. @returns a function that stops
 */
export function watchPage(onWake: () => void, onClose: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const heard = new AbortController();
  const { signal } = heard;
  const wake = (): void => {
    if (!document.hidden) onWake();
  };
  document.addEventListener('visibilitychange', wake, { signal });
  document.addEventListener('resume', wake, { signal });
  addEventListener('pageshow', wake, { signal });
  addEventListener('online', onWake, { signal });
  addEventListener('pagehide', ({ persisted }) => persisted || onClose(), { signal });
  return () => heard.abort();
}
