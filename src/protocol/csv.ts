type Value = string | number | boolean | null;

/** A line of CSV (RFC 4180, section 2) with its end: the fields of `columns`, and nothing for those that a row has not. */
export function csvLine(row: Readonly<Record<string, Value | undefined>>, columns: readonly string[]): string {
  return `${columns.map((column) => csvField(row[column] ?? '')).join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula is given an apostrophe: names are free text (OWASP, CSV injection). */
function csvField(value: string | number | boolean): string {
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
