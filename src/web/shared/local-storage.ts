/** What is kept in this browser between two visits. A browser without storage throws; then it lasts only as long as the page. */
export function readKept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function writeKept(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // As in `readKept`.
  }
}
