/** What the next page needs to continue: the token, and whether in writing, because then it must not ask for a microphone. */
export interface ResumePoint {
  readonly token: string;
  readonly isWritten: boolean;
}

const WRITTEN = 'written ';

/**
 * Keeps a conversation's token between one page of the tab and the next. The browser stores nothing else, and nothing at all while a page has
 * the conversation, so that a duplicated tab does not take it over. Storage may be unavailable.
 */
export function keepToken(name: string, { token, isWritten }: ResumePoint): void {
  try {
    sessionStorage.setItem(name, (isWritten ? WRITTEN : '') + token);
  } catch {}
}

/** Takes the token out of the storage, so that only one of two elements gets it. */
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
