import { csvLine } from '../protocol/csv.ts';
import { type ExportFormat, exportedSession, exportedUsage } from '../protocol/operator/export.ts';

/** What can be exported, with the columns of each in order. */
export const EXPORTS = {
  sessions: Object.keys(exportedSession.shape),
  usage: Object.keys(exportedUsage.shape),
} as const;

type Row = Readonly<Record<string, string | number | null>>;

export type ExportName = keyof typeof EXPORTS;

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/**
 * The text of an export, one page of rows at a time. The first line of CSV names the columns.
 * @param pages rows with the columns of `name`
 */
export async function* exportText(
  name: ExportName,
  format: ExportFormat,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  const columns = EXPORTS[name];
  let head = format === 'csv' ? `${columns.join(',')}\r\n` : '';
  const textOf = format === 'csv' ? (row: Row) => csvLine(row, columns) : (row: Row) => `${JSON.stringify(row)}\n`;
  for await (const rows of pages) {
    yield head + rows.map(textOf).join('');
    head = '';
  }
}

/** @returns the same parts, once the first of them is made. @throws what making that one throws */
export async function begun(parts: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await parts.next();
  return (async function* () {
    if (first.done === true) return;
    try {
      yield first.value;
      yield* parts;
    } finally {
      await parts.return(undefined);
    }
  })();
}
