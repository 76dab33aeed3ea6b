import { describe, expect, test } from 'vitest';
import { moneyText } from '../../../src/protocol/money.ts';
import { maskAddresses } from '../../../src/web/console/labels/format.ts';
import { limitRows, limitWords } from '../../../src/web/console/labels/keys.ts';
import { columnsOf } from '../../../src/web/console/components/columns-chart.tsx';

describe('Counts over time', () => {
  test('have a column for each hour between the first and the last, even if empty', () => {
    const series = [
      { at: '2030-01-01T10:00:00.000Z', count: 1200 },
      { at: '2030-01-01T12:00:00.000Z', count: 3 },
    ];
    expect(columnsOf(series, 'hour', 'utc')).toEqual([
      { label: '10:00', amount: 1200, text: '1,200' },
      { label: '11:00', amount: 0, text: '0' },
      { label: '12:00', amount: 3, text: '3' },
    ]);
    expect(columnsOf([], 'minute', 'utc')).toEqual([]);
  });

  test('name the day if there is more than one', () => {
    const series = ['2030-01-01T10:00:00.000Z', '2030-01-02T10:00:00.000Z'].map((at) => ({ at, count: 1 }));
    const columns = columnsOf(series, 'hour', 'utc');
    expect([columns.length, columns[0]?.label, columns.at(-1)?.label]).toEqual([25, '01-01 10:00', '01-02 10:00']);
  });
});

test('An amount of money above zero is never shown as zero', () => {
  expect([0, 0.31, 0.0002, 0.00002, -0.00002, 1234.5].map(moneyText)).toEqual([
    '$0.00',
    '$0.31',
    '$0.0002',
    '<$0.0001',
    '>-$0.0001',
    '$1,234.50',
  ]);
});

test('The limits of a key are shown in one line', () => {
  expect(limitWords({ concurrentSessions: 2, dailyDollars: 20, newVisitorSeconds: 60 })).toBe(
    '2 at once, $20.00 a day, 60 s for a new visitor who says nothing',
  );
});

describe('The limits of a session', () => {
  test('are shown with their units and what sets them, apart from those of the whole key', () => {
    const limits = {
      maxMinutes: { value: 15, setBy: 'MAX_SESSION_MINUTES' },
      newVisitorSeconds: { value: 60, setBy: 'limits.newVisitorSeconds' },
      dailyTokens: { value: 300_000, setBy: 'limits.dailyTokens' },
      'totals.dollarsDaily': { value: 3, setBy: 'totals.dollarsDaily' },
      ofTomorrow: { value: 1, setBy: 'NEW' },
    };
    expect(limitRows(limits).map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'longest: 15 min',
      'unless words are heard: 60 s',
      'tokens a day: 300,000',
      'dollars a day, whole key: $3.00',
      'ofTomorrow: 1',
    ]);
  });
});

describe('Addresses in files of rows', () => {
  test.each([
    ['login,ada@example.com,active', 'login,a…@example.com,active'],
    ['"asked by <ada.b+c@example.com>, and x@y.example"', '"asked by <a…@example.com>, and x…@y.example"'],
    ["'=ada@example.com", "'…@example.com"],
    ['a…@example.com', 'a…@example.com'],
    ['s:0123456789abcdef0123456789abcdef:abc-_1Z', 's:0123456789abcdef0123456789abcdef:abc-_1Z'],
  ])('%s is written %s', (text, written) => {
    expect(maskAddresses(text)).toBe(written);
  });
});
