/** By what the next page goes on, and whether in writing: then it asks for no microphone either. */
export interface ResumePoint {
  readonly token: string;
  readonly isWritten: boolean;
}

const WRITTEN = 'written ';

/**
 * The token of a conversation, between the page that was left and the next one of the tab: nothing else is kept in the browser, and nothing
 * while a page has the conversation, so that a tab that was duplicated does not take it away. A page may be without storage.
 */
export function keepToken(name: string, { token, isWritten }: ResumePoint): void {
  try {
    sessionStorage.setItem(name, (isWritten ? WRITTEN : '') + token);
  } catch {}
}

/** If two elements look, only one gets the token. */
export function takeToken(name: string): ResumePoint | undefined {
  try {
    const kept = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    if (kept === null) return undefined;
    return { token: kept.replace(WRITTEN, ''), isWritten: kept.startsWith(WRITTEN) };
  } catch {
    return undefined;
  }
}
