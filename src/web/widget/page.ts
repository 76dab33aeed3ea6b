/**
 * Tells when the page may have been asleep (hidden tabs have late timers, frozen ones none, sleeping machines neither) or has
 * another network, and when the visitor leaves: a page that the browser keeps for the Back button has been left too.
 * @returns a function that stops
 */
export function watchPage(onWake: () => void, onLeave: () => void): () => void {
  if (typeof document === 'undefined') return () => undefined;
  const heard = new AbortController();
  const { signal } = heard;
  for (const type of ['visibilitychange', 'resume']) document.addEventListener(type, onWake, { signal });
  for (const type of ['pageshow', 'online']) addEventListener(type, onWake, { signal });
  addEventListener('pagehide', onLeave, { signal });
  return () => heard.abort();
}
