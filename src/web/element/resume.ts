/**
 * The token of a conversation, between the page that was left and the next one of the tab: nothing else is kept in the browser, and nothing
 * while a page has the conversation, so that a tab that was duplicated does not take it away. A page may be without storage.
 */
export function keepToken(name: string, token: string): void {
  try {
    sessionStorage.setItem(name, token);
  } catch {}
}

/** Of two that look one gets it. */
export function takeToken(name: string): string | undefined {
  try {
    const token = sessionStorage.getItem(name) ?? undefined;
    sessionStorage.removeItem(name);
    return token;
  } catch {
    return undefined;
  }
}
