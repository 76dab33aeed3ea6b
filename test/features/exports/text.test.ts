import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { begun, exportText } from '../../../src/exports/text.ts';
import { csvLine } from '../../../src/protocol/csv.ts';
import type { ExportedUsage } from '../../../src/protocol/operator/export.ts';

const row: ExportedUsage = {
  day: '2030-01-01',
  subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  tenantId: 'acme',
  keyId: null,
  agentId: 'support',
  tokens: 12,
  dollars: 0.000012,
};

const HEAD = 'day,subject,tenantId,keyId,agentId,tokens,dollars\r\n';

async function* pages(...all: readonly (readonly ExportedUsage[])[]): AsyncGenerator<readonly ExportedUsage[]> {
  yield* all;
}

async function partsOf(parts: AsyncIterable<string>): Promise<string[]> {
  const all = [];
  for await (const part of parts) all.push(part);
  return all;
}

describe('The text of an export', () => {
  test('is a JSON object a line, a page at a time', async () => {
    const other = { ...row, agentId: '=HYPERLINK("x"),\n' };
    expect(await partsOf(exportText('usage', 'ndjson', pages([row, other], [], [row])))).toEqual([
      `${JSON.stringify(row)}\n${JSON.stringify(other)}\n`,
      '',
      `${JSON.stringify(row)}\n`,
    ]);
  });

  test('as CSV begins with the names of its columns, also where there is no row', async () => {
    const line = '2030-01-01,7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4,acme,,support,12,0.000012\r\n';
    expect(await partsOf(exportText('usage', 'csv', pages([row], [row])))).toEqual([HEAD + line, line]);
    expect(await partsOf(exportText('usage', 'csv', pages([])))).toEqual([HEAD]);
  });

  test.each([
    ['a,b', '"a,b"'],
    ['say "no"', '"say ""no"""'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['=1+1', "'=1+1"],
    ['@sum', "'@sum"],
    ['-2,', `"'-2,"`],
    ['plain=', 'plain='],
  ])('as CSV has the field %j as %s', async (agentId, field) => {
    const [part = ''] = await partsOf(exportText('usage', 'csv', pages([{ ...row, agentId }])));
    expect(part.slice(HEAD.length)).toBe(`2030-01-01,${row.subject},acme,,${field},12,0.000012\r\n`);
  });
});

describe('A line of CSV', () => {
  test('contains no field that a spreadsheet takes for a formula, and every field can be read back', () => {
    const texts = fc.array(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `=${text}`),
        fc.constantFrom('\t=1', '\r=1', '+1', '-1', '@a', '"', ','),
      ),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(texts, (values) => {
        const columns = values.map((_, index) => `c${index}`);
        const line = csvLine(Object.fromEntries(values.map((value, index) => [`c${index}`, value])), columns);
        const fields = parseLine(line);
        expect(fields.map((field, index) => (field === `'${values[index]}` ? values[index] : field))).toEqual(values);
        for (const field of fields) expect(field).not.toMatch(/^[=+\-@\t\r]/);
      }),
    );
  });
});

/** Parses a line by RFC 4180. */
function parseLine(line: string): string[] {
  expect(line.endsWith('\r\n')).toBe(true);
  return [...`${line.slice(0, -2)},`.matchAll(/(?:"((?:[^"]|"")*)"|([^",]*)),/g)].map(([, quoted, plain = '']) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );
}

describe('An export that has begun', () => {
  test('has all of its parts, the first of them made already', async () => {
    let made = 0;
    async function* parts(): AsyncGenerator<string> {
      for (const part of ['a', 'b']) {
        made += 1;
        yield part;
      }
    }
    const all = await begun(parts());
    expect(made).toBe(1);
    expect(await partsOf(all)).toEqual(['a', 'b']);
  });

  test('has not begun if its first part fails', async () => {
    const away: AsyncIterable<readonly ExportedUsage[]> = {
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('away')) }),
    };
    await expect(begun(exportText('usage', 'csv', away))).rejects.toThrow('away');
  });

  test('makes no more parts once nobody reads them', async () => {
    let isClosed = false;
    const endless = (async function* (): AsyncGenerator<string> {
      try {
        for (;;) yield 'part';
      } finally {
        isClosed = true;
      }
    })();
    for await (const _ of await begun(endless)) break;
    expect(isClosed).toBe(true);
  });
});
