/** By what the next page goes on, and whether in writing: then it asks for no microphone either. */
export interface Kept {
  readonly token: string;
  readonly isWritten: boolean;
}

const WRITTEN = 'written ';

/**
 * The token of a conversation, between the page that was left and the next one of the tab: nothing else is kept in the browser, and nothing
 * while a page has the conversation, so that a tab that was duplicated does not take it away. A page may be without storage.
 */
export function keepToken(name: string, { token, isWritten }: Kept): void {
  try {
    sessionStorage.setItem(name, (isWritten ? WRITTEN : '') + token);
  } catch {}
}

/** Of two that look one gets it. */
export function takeToken(name: string): Kept | undefined {
  try {
    const kept = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    if (kept === null) return undefined;
    return { token: kept.replace(WRITTEN, ''), isWritten: kept.startsWith(WRITTEN) };
  } catch {
    return undefined;
  }
}
