import { beforeEach, describe, expect, test } from 'vitest';
import { service, somebody, unique, type Reply } from '../support/app.ts';
import { HOUR, NOON, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

const { database } = useApp({ env: { OPERATOR_EMAILS: 'ops@example.com', VIEWER_EMAILS: 'vera@support.example' } });

const DAY = '2030-01-02';

interface Row {
  readonly id: string;
  readonly [field: string]: unknown;
}

beforeEach(async () => {
  await database().run((sql) => sql`delete from usage_day`);
  await database().run((sql) => sql`delete from usage_hour`);
  await database().run((sql) => sql`delete from usage_entry`);
});

const usage = (query = '', headers: Record<string, string> = service): Promise<Reply> =>
  app.get(`/api/operator/usage?${query}`, headers);

const rows = async (query: string): Promise<readonly Row[]> => (await usage(query)).body['rows'] as Row[];

async function report(id: string, tokens: number, dollars: number): Promise<void> {
  const { status } = await app.post('/api/auth/usage', { sm_session_id: id, tokens, dollars }, service);
  expect(status).toBe(200);
}

/** A session for a key of each tenant, both with usage, and a console user's report without a session. */
async function used() {
  const acme = await app.key({ totals: { dollarsDaily: 10 } });
  const globex = await app.key({ tenantId: 'globex' });
  const ids = [await app.open(acme), await app.open(globex)] as const;
  await report(ids[0], 300, 3);
  await report(ids[1], 100, 0.5);
  await app.post('/api/auth/usage', { email: somebody(), tokens: 100, dollars: 0.5 }, service);
  return { acme, globex, ids };
}

describe('The operator API shows who used what', () => {
  test('today, highest usage first, with share, ceiling and projection for midnight', async () => {
    const { acme, globex } = await used();
    const { status, body } = await usage('by=key');
    expect(status).toBe(200);
    // It is noon, 12 hours before midnight; the projection looks at the last hours, since 11 o'clock.
    expect(body).toEqual({
      rows: [
        {
          id: `acme/${acme.id}`,
          tenantId: 'acme',
          tokens: 300,
          dollars: 3,
          share: 0.75,
          ceiling: 10,
          ceilingTokens: null,
          projected: 39,
          projectedTokens: 3900,
        },
        {
          id: `globex/${globex.id}`,
          tenantId: 'globex',
          tokens: 100,
          dollars: 0.5,
          share: 0.125,
          ceiling: null,
          ceilingTokens: null,
          projected: 6.5,
          projectedTokens: 1300,
        },
      ],
      series: [{ at: DAY, tokens: 500, dollars: 4 }],
      total: { tokens: 500, dollars: 4 },
      unattributed: { tokens: 100, dollars: 0.5 },
      nextCursor: null,
      asOf: new Date(NOON).toISOString(),
    });
  });

  test('by subject, with the ceilings of widgets and of console users', async () => {
    await used();
    const limits = { ceiling: expect.any(Number), ceilingTokens: expect.any(Number) };
    const found = await rows('by=subject');
    expect(found).toMatchObject([{ dollars: 3, ...limits }, limits, limits]);
    expect((await usage('')).body['rows']).toEqual(found);
    const console = found.find(({ tenantId }) => tenantId === null);
    expect(console).toMatchObject({ tokens: 100 });
  });

  test('by tenant, agent and session, the latter by its ref', async () => {
    const { ids } = await used();
    expect(await rows('by=tenant')).toMatchObject([{ id: 'acme', ceiling: null }, { id: 'globex' }]);
    expect((await usage('by=agent')).body).toMatchObject({ rows: [], unattributed: { tokens: 500 } });
    expect(await rows('by=session')).toMatchObject(
      ids.map((id) => ({ id: id.slice(0, 42), ceiling: null, projected: null })),
    );
    const first = await usage('by=session&limit=1');
    const cursor = String(first.body['nextCursor']);
    expect(Buffer.from(cursor, 'base64url').toString()).not.toContain(ids[0]);
    expect(await rows(`by=session&limit=1&cursor=${cursor}`)).toMatchObject([{ id: ids[1].slice(0, 42) }]);
  });

  test('by the hour, and on other days without ceilings', async () => {
    await used();
    app.clock.advance(25 * HOUR);
    const yesterday = `from=${DAY}T00:00:00Z&to=${DAY}T23:59:59Z`;
    expect((await usage(`by=tenant&span=hour&${yesterday}`)).body).toMatchObject({
      series: [{ at: new Date(NOON).toISOString(), tokens: 500, dollars: 4 }],
    });
    expect(await rows(`by=key&${yesterday}`)).toMatchObject([{ ceiling: null, projected: null }, {}]);
    expect(await rows('by=key')).toEqual([]);
    expect((await usage(`by=key&from=${DAY}T00:00:00Z`)).body['total']).toEqual({ tokens: 500, dollars: 4 });
  });

  test('in the tenants that the operator may see, and in no other', async () => {
    await used();
    const boss = await app.as('boss@globex.example');
    expect((await usage('by=tenant', boss)).body).toMatchObject({
      rows: [{ id: 'globex', share: 1 }],
      total: { tokens: 100 },
      unattributed: { tokens: 0 },
    });
    expect((await usage('by=tenant&tenantId=acme', boss)).body).toMatchObject({
      rows: [],
      series: [],
      total: { tokens: 0 },
    });
    expect((await usage('by=tenant&tenantId=acme')).body).toMatchObject({
      rows: [{ id: 'acme' }],
      total: { tokens: 300 },
    });
  });

  test('with each session, in lists and by itself', async () => {
    const { ids } = await used();
    await report(ids[0], 7, 0.25);
    const listed = (await app.get('/api/operator/sessions?limit=200', service)).body['sessions'] as Row[];
    const usedBy = (id: string): unknown => listed.find((one) => one.id === id)?.['usage'];
    expect(usedBy(ids[0])).toEqual({ tokens: 307, dollars: 3.25 });
    expect(usedBy(ids[1])).toEqual({ tokens: 100, dollars: 0.5 });
    const idle = await app.open(await app.key());
    const detail = async (id: string) =>
      (await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service)).body['usage'];
    expect(await detail(ids[0])).toEqual({ tokens: 307, dollars: 3.25 });
    expect(await detail(idle)).toEqual({ tokens: 0, dollars: 0 });
  });
});

describe('The overview shows what today costs', () => {
  const spend = async (headers: Record<string, string> = service) =>
    (await app.get('/api/operator/overview', headers)).body['spend'];

  test('and the projection for midnight, and nothing if nothing was used', async () => {
    await used();
    expect(await spend()).toMatchObject({ tokens: 500, dollars: 4, ceiling: null, projected: 52 });
    app.clock.advance(24 * HOUR);
    expect(await spend()).toMatchObject({ tokens: 0, dollars: 0, projected: 0, atCeiling: [] });
  });

  test('and who reaches a ceiling before midnight, earliest first', async () => {
    const key = await app.key({ limits: { dailyDollars: 4, dailyTokens: 1e6 } });
    const [slow, fast, never] = [
      await app.open(key, { email: somebody() }),
      await app.open(key, { email: somebody() }),
      await app.open(key, { email: somebody() }),
    ];
    await report(slow, 1, 1);
    await report(fast, 1, 2);
    await report(never, 1, 0.1);
    const subjectOf = (id: string): string => id.slice(2, 34);
    expect(await spend()).toMatchObject({
      atCeiling: [
        { subject: subjectOf(fast), at: new Date(NOON + HOUR).toISOString() },
        { subject: subjectOf(slow), at: new Date(NOON + 3 * HOUR).toISOString() },
      ],
    });
  });

  test('and which daily totals of keys and tenants are used up or will be before midnight, as metrics tell too', async () => {
    const tenant = { id: unique('tenant'), name: 'T', agents: [], admins: ['@t.example'], keys: [] };
    await app.service.stores.tenants.merge([{ ...tenant, totals: { dollarsDaily: 40 } }]);
    const key = await app.key({ tenantId: tenant.id, totals: { dollarsDaily: 10 } });
    const closed = await app.key({ tenantId: tenant.id, totals: { dollarsDaily: 0 } });
    const revoked = await app.key({ tenantId: tenant.id, totals: { dollarsDaily: 1 }, revokedAtMs: NOON });
    const admin = await app.as('boss@t.example');
    const totals = async () => ((await spend(admin)) as { readonly totals: object[] }).totals;
    const shares = async () => {
      const { text } = await app.get('/metrics', service);
      return text.split('\n').filter((line) => line.includes(`daily_ceiling_used_ratio{tenant="${tenant.id}"`));
    };
    const metric = (keyId: string, share: number) =>
      `switchboard_daily_ceiling_used_ratio{tenant="${tenant.id}",key="${keyId}"} ${share}`;
    const id = await app.open(key);
    await report(id, 1, 3);
    const at = (hours: number) => new Date(NOON + Math.round(hours * HOUR)).toISOString();
    const ofKey = { tenantId: tenant.id, keyId: key.id };
    // Three dollars since eleven o'clock: at that pace 39 are used at midnight.
    expect(await totals()).toEqual([{ ...ofKey, percent: 30, at: at(7 / 3) }]);
    expect(await shares()).toEqual([metric(key.id, 0.3), metric('', 0.075)]);
    await report(id, 1, 7);
    expect(await shares()).toEqual([metric(key.id, 0.3), metric('', 0.075)]);
    app.clock.advance(10 * SECOND);
    const paceHours = (HOUR + 10 * SECOND) / HOUR / 10;
    const ofTenant = { tenantId: tenant.id, keyId: null, percent: 25, at: at(10 / 3600 + 30 * paceHours) };
    expect(await totals()).toEqual([{ ...ofKey, percent: 100, at: null }, ofTenant]);
    expect(await shares()).toEqual([metric(key.id, 1), metric('', 0.25)]);
    expect(JSON.stringify(await spend(await app.as('boss@globex.example')))).not.toContain(tenant.id);
    app.clock.advance(12 * HOUR);
    expect(await totals()).toEqual([]);
    expect(await shares()).toEqual([metric('', 0), metric(key.id, 0)]);
    expect(JSON.stringify(await shares())).not.toMatch(`${closed.id}|${revoked.id}`);
  });

  test('in the tenants that the operator may see, as in the rest of the overview', async () => {
    await used();
    const boss = await app.as('boss@globex.example');
    const { status, body } = await app.get('/api/operator/overview', boss);
    expect(status).toBe(200);
    expect(Object.keys(body['byTenant'] as object)).toEqual(['globex']);
    expect(body['spend']).toMatchObject({ tokens: 100, dollars: 0.5 });
  });
});
