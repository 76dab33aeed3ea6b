import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { END_REASONS } from '../../machines/voice-session/end-reasons.ts';
import { closeCode } from '../../src/protocol/close-codes.ts';
import { ERROR_CODES, type Code } from '../../src/protocol/errors/error-codes.ts';

const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');

/** The rows of the table whose heading starts with these columns, each as its cells. */
function rowsUnder(...columns: readonly string[]): string[][] {
  const lines = contract.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${columns.join(' | ')} |`));
  expect(head, columns.join()).toBeGreaterThan(0);
  const rows = lines.slice(head + 2);
  return rows.slice(0, rows.indexOf('')).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('docs/contract.md', () => {
  test('has every error code with its status, its meaning and what to do', () => {
    const told = rowsUnder('code', 'status', 'when', 'what the client does').map((cells) => cells.join(' | '));
    const rows = (Object.keys(ERROR_CODES) as Code[]).map((code) => {
      const { status, meaning } = ERROR_CODES[code];
      return `${code} | ${status} | ${meaning} | ${ERROR_CODES[code].action}`;
    });
    expect(told.toSorted()).toEqual(rows.toSorted());
  });

  test('has every close code of the channel', () => {
    const told = rowsUnder('close code').map(([code]) => Number(code));
    expect(told).toEqual(Object.values(closeCode));
  });

  test('has every end reason, and whether it is a violation', () => {
    const told = rowsUnder('reason', 'what ended it', 'a violation').map(([reason, , isOne]) => `${reason}: ${isOne}`);
    const rows = Object.entries(END_REASONS).map(
      ([reason, { isViolation }]) => `\`${reason}\`: ${isViolation ? 'yes' : 'no'}`,
    );
    expect(told.toSorted()).toEqual(rows.toSorted());
  });
});
