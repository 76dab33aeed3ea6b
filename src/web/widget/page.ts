/**
 * Calls `heard` at events of the page, wherever in it they happen; never outside of a browser.
 * @param signal stops listening
 */
export function onPage(signal: AbortSignal, types: readonly string[], heard: () => void): void {
  if (typeof document === 'undefined') return;
  // Some of these events are the document's. With `capture`, the window hears them too.
  for (const type of types) addEventListener(type, heard, { signal, capture: true });
}

/**
 * Events after which the page may have been asleep (timers are late in hidden tabs and stop in frozen ones and on sleeping computers) or has
 * another network.
 */
export const WAKING = ['visibilitychange', 'resume', 'pageshow', 'online'];

/** The visitor leaves. A page that the browser keeps for the Back button counts as left. */
export const LEAVING = ['pagehide'];

/** The visitor does something, after which browsers allow sound: Safari already after `touchend`. */
export const TOUCHING = ['touchend', 'click', 'keydown'];
