import { beforeEach, describe, expect, test } from 'vitest';
import { exportedSession, exportedUsage } from '../../src/protocol/operator/export.ts';
import { service, type Reply } from '../support/app.ts';
import { HOUR, MINUTE, NOON } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

const { database } = useApp({ env: { OPERATOR_EMAILS: 'ops@example.com', VIEWER_EMAILS: 'vera@support.example' } });

const DAY = '2030-01-02';
const iso = (ms: number): string => new Date(ms).toISOString();

beforeEach(async () => {
  for (const table of ['usage_day', 'usage_hour', 'usage_entry', 'voice_session'])
    await database().run((sql) => sql`delete from ${sql(table)}`);
});

const ask = (path: string, headers: Record<string, string> = service): Promise<Reply> =>
  app.get(`/api/operator/export/${path}`, headers);

async function linesOf(path: string, headers?: Record<string, string>): Promise<Record<string, unknown>[]> {
  const { status, text } = await ask(path, headers);
  expect(status).toBe(200);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
}

async function report(id: string, tokens: number, dollars: number): Promise<void> {
  expect((await app.post('/api/auth/usage', { sm_session_id: id, tokens, dollars }, service)).status).toBe(200);
}

/** One session for each tenant; the second began a minute later and has ended. */
async function used() {
  const acme = await app.key();
  const globex = await app.key({ tenantId: 'globex' });
  const first = await app.open(acme);
  app.clock.advance(MINUTE);
  const second = await app.open(globex);
  await report(first, 300, 3);
  await report(second, 100, 0.5);
  expect((await app.post('/api/realtime/end', { sm_session_id: second })).status).toBe(200);
  expect((await app.post('/api/realtime/rate', { sm_session_id: second, value: 4 })).status).toBe(200);
  return { acme, globex, first, second };
}

describe('Operators can export', () => {
  test('sessions with their usage, oldest first, by refs', async () => {
    const { acme, globex, first, second } = await used();
    const rows = await linesOf('sessions');
    expect(rows).toMatchObject([
      {
        ref: first.slice(0, 42),
        tenantId: 'acme',
        keyId: acme.id,
        state: 'engaged',
        endedAt: null,
        dollars: 3,
        rating: null,
      },
      {
        ref: second.slice(0, 42),
        tenantId: 'globex',
        keyId: globex.id,
        state: 'ended',
        startedAt: iso(NOON + MINUTE),
        endReason: 'closed_by_client',
        tokens: 100,
        rating: 4,
      },
    ]);
    for (const row of rows) expect(exportedSession.strict().parse(row)).toEqual(row);
    const { text, headers } = await ask('sessions');
    expect(text).not.toContain(first);
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="switchboard-sessions-${DAY}.ndjson"`,
      'cache-control': 'no-store',
    });
  });

  test('the sessions that filters find, even if there are more than are read at once', async () => {
    const { first, second } = await used();
    expect(await linesOf('sessions?state=ended')).toMatchObject([{ ref: second.slice(0, 42) }]);
    expect(await linesOf('sessions?tenantId=acme')).toMatchObject([{ ref: first.slice(0, 42) }]);
    expect(await linesOf(`sessions?to=${iso(NOON + 1)}`)).toHaveLength(1);
    const { history } = app.service.stores;
    const record = await history.find(second);
    if (record === undefined) throw new Error('it is there');
    const others = Array.from({ length: 1234 }, (_, n) => `${second.slice(0, 35)}${String(n).padStart(22, '0')}`);
    await Promise.all(others.map((id) => history.insert({ record: { ...record, id }, state: 'ended' })));
    const refs = (await linesOf('sessions?tenantId=globex')).map(({ ref }) => ref);
    expect(refs).toHaveLength(1235);
    expect(refs).toEqual([second, ...others].map((id) => id.slice(0, 42)).toSorted());
  });

  test('usage by day, subject, key and agent', async () => {
    const { acme } = await used();
    app.clock.advance(24 * HOUR);
    await report(await app.open(acme), 1, 0.000001);
    const rows = await linesOf(`usage?from=${iso(NOON)}`);
    expect(rows.map(({ day, tenantId, dollars }) => [day, tenantId, dollars])).toEqual(
      expect.arrayContaining([
        [DAY, 'acme', 3],
        [DAY, 'globex', 0.5],
        ['2030-01-03', 'acme', 0.000001],
      ]),
    );
    expect(rows).toHaveLength(3);
    for (const row of rows) expect(exportedUsage.strict().parse(row)).toEqual(row);
    expect(await linesOf('usage')).toMatchObject([{ day: '2030-01-03', keyId: acme.id, agentId: null, tokens: 1 }]);
    expect((await ask('usage?format=csv')).text).toMatch(
      /^day,subject,tenantId,keyId,agentId,tokens,dollars\r\n2030-01-03,[0-9a-f]{32},acme,[^,]+,,1,0\.000001\r\n$/,
    );
  });
});
