import { describe, expect, test } from 'vitest';
import { run, type ExportTerminal } from '../../../src/cli/export.ts';
import { DirectoryInUse } from '../../../src/database/embedded/directory-lock.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { ExportStores } from '../../../src/exports/rows.ts';
import type { HistoryFilter } from '../../../src/stores/voice-history/contract.ts';
import { opened } from '../../machines/voice-session-support.ts';
import { NOON } from '../../support/clock.ts';
import { fakeTerminal } from './terminal.ts';

function build(env: NodeJS.ProcessEnv = {}) {
  const asked = { filters: [] as HistoryFilter[], days: [] as string[], closed: 0 };
  const record = { ...opened(NOON), tenantId: 'acme' };
  const stores: ExportStores = {
    history: {
      list: async (filter) => {
        asked.filters.push(filter);
        return { rows: [{ record, state: 'engaged' }], next: undefined, isPartial: false };
      },
      ratingsOf: async () => new Map([[record.id, 4]]),
    },
    usageReports: {
      ofSessions: async () => new Map([[record.id, { tokens: 7, microDollars: 21 }]]),
      ofDay: async (day, tenants) => {
        asked.days.push(`${day} ${String(tenants)}`);
        return [];
      },
    },
  };
  const plain = fakeTerminal(env);
  const terminal: ExportTerminal = {
    ...plain,
    openStores: async () => ({
      ...stores,
      close: async () => {
        asked.closed += 1;
      },
    }),
    print: async (parts) => {
      for await (const part of parts) plain.out.write(part);
    },
  };
  return { terminal, ...plain, stores, asked, record };
}

describe('export', () => {
  test('prints sessions with what they used, of a tenant and from an instant on', async () => {
    const { terminal, printed, asked, record } = build();
    const from = '2030-01-01T00:00:00Z';
    expect(await run(['sessions', '--from', from, '--tenant', 'acme'], terminal)).toBe(0);
    expect(JSON.parse(printed())).toMatchObject({ ref: record.id.slice(0, 42), tokens: 7, dollars: 0.000021 });
    expect(printed()).not.toContain(record.id);
    expect(asked.filters).toMatchObject([{ tenantId: 'acme', fromMs: Date.parse(from) }]);
    expect(asked.closed).toBe(1);
  });

  test('prints usage of each day in the zone of the installation', async () => {
    const { terminal, printed, asked } = build({ QUOTA_TIMEZONE: 'Pacific/Auckland' });
    const range = ['--from', '2030-02-27T12:00:00Z', '--to', '2030-03-01T10:00:00Z'];
    expect(await run(['usage', '--format', 'csv', ...range], terminal)).toBe(0);
    expect(printed()).toBe('day,subject,tenantId,keyId,agentId,tokens,dollars\r\n');
    expect(asked.days).toEqual(['2030-02-28 undefined', '2030-03-01 undefined']);
  });

  test.each([
    [[], 'say what to export: sessions or usage'],
    [['calls'], 'say what to export: sessions or usage'],
    [['toString'], 'say what to export: sessions or usage'],
    [['usage', 'sessions'], 'one export at a time, not "sessions"'],
    [['usage', '--format', 'xml'], '--format: '],
    [['usage', '--from', 'yesterday'], '--from: must be a time such as 2030-01-01T12:00:00Z'],
    [['usage', '--tenant', ''], '--tenant: '],
    [['usage', '--from', '2030-02-01T00:00:00Z', '--to', '2030-01-01T00:00:00Z'], 'from: must not be after to'],
    [['usage', '--from', '1999-01-01T00:00:00Z'], 'An export has at most 400 days.'],
    [['usage', '--key', 'site'], "Unknown option '--key'"],
  ])('refuses %j', async (args, why) => {
    const { terminal, complained, asked } = build();
    expect(await run(args, terminal)).toBe(64);
    expect(complained()).toContain(why);
    expect(complained()).toContain('Usage:\n  export sessions|usage');
    expect(asked.closed).toBe(0);
  });

  test('says where it breaks off that it is not whole, and lets go of the database', async () => {
    const { terminal, complained, asked } = build();
    const print = (): Promise<void> => Promise.reject(new Unavailable('database'));
    expect(await run(['sessions'], { ...terminal, print })).toBe(69);
    expect(complained()).toContain('The export is not whole.');
    expect(asked.closed).toBe(1);
  });

  test('beside a server on the embedded database says where exports are', async () => {
    const { terminal, complained } = build();
    const openStores = (): Promise<never> => Promise.reject(new DirectoryInUse('data', '1'));
    expect(await run(['usage'], { ...terminal, openStores })).toBe(69);
    expect(complained()).toContain('GET /api/operator/export/sessions');
    expect(complained()).not.toContain('not whole');
  });
});
