type Value = string | number | boolean | null;

/** One line of CSV with its line ending (RFC 4180, section 2): the fields named by `columns`, empty where the row has no such field. */
export function csvLine(row: Readonly<Record<string, Value | undefined>>, columns: readonly string[]): string {
  return `${columns.map((column) => csvField(row[column] ?? '')).join(',')}\r\n`;
}

/** Puts an apostrophe before what a spreadsheet would read as a formula, because names are free text (OWASP, CSV injection). */
function csvField(value: string | number | boolean): string {
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
