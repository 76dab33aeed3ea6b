import { describe, expect, test } from 'vitest';
import { service, STAFF, unique } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { closedCall } from './calls.ts';

const HOUR = 60 * MINUTE;

const { database } = useApp({ env: STAFF });

interface Tallies {
  readonly started: number;
  readonly ended: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
}

interface Overview {
  readonly endingSoon: number;
  readonly lateHangups: number;
  readonly activity: Readonly<Record<'minute' | 'hour' | 'day', Tallies & { readonly previous: Tallies }>>;
  readonly verdict: { readonly us: string; readonly provider: string; readonly sentence: string };
  readonly dependencies: readonly { readonly name: string; readonly latencyMs: number | null }[];
  readonly nodes: readonly { readonly id: string }[];
}

/** The overview, computed anew. */
async function look(): Promise<Overview> {
  await app.service.activityWriter.flush();
  app.clock.advance(2 * SECOND);
  const { status, body } = await app.get('/api/operator/overview', service);
  expect(status).toBe(200);
  return body as unknown as Overview;
}

describe('The overview', () => {
  test('shows activity of the last minute, hour and day, each beside the one before', async () => {
    app.clock.advance(3 * 24 * HOUR);
    const key = await app.key();
    const id = await app.open(key);
    await app.open(key);
    await app.sessions.end(id, 'closed_by_client', app.clock.now());
    await app.create(key, {}, { origin: 'https://evil.example' });
    const fresh = { started: 2, ended: { closed_by_client: 1 }, refused: { ORIGIN_MISMATCH: 1 } };
    const none = { started: 0, ended: {}, refused: {} };
    const present = (await look()).activity;
    expect(present).toMatchObject({
      minute: none,
      hour: { ...fresh, previous: none },
      day: { ...fresh, previous: none },
    });
    app.clock.advance(MINUTE);
    expect((await look()).activity.minute).toMatchObject(fresh);
    app.clock.advance(HOUR);
    expect((await look()).activity.hour).toMatchObject({ ...none, previous: fresh });
    app.clock.advance(24 * HOUR);
    expect((await look()).activity.day).toMatchObject({ started: 0, previous: fresh });
  });

  test('counts the sessions that end within a minute', async () => {
    const before = (await look()).endingSoon;
    await app.open(await app.key());
    expect((await look()).endingSoon).toBe(before);
    app.clock.advance(14 * MINUTE);
    expect((await look()).endingSoon).toBeGreaterThan(before);
  });

  test('counts the calls that are still not hung up after ten seconds, and shows a tenant its own', async () => {
    const before = (await look()).lateHangups;
    const id = await app.open(await app.key({ tenantId: 'globex' }));
    const closingAtMs = app.clock.now();
    const closing = { state: 'closing', closingAtMs, closedAtMs: null } as const;
    await app.service.stores.calls.insert({ ...closedCall(id), id: unique('call'), tenantId: 'globex', ...closing }, 3);
    app.clock.advance(7 * SECOND);
    expect((await look()).lateHangups).toBe(before);
    expect((await look()).lateHangups).toBe(before + 1);
    const of = async (tenantId: string) =>
      (await app.get(`/api/operator/overview?tenantId=${tenantId}`, service)).body['lateHangups'];
    expect(await of('globex')).toBeGreaterThan(0);
    expect(await of('nobody')).toBe(0);
  });

  test('says by the numbers whether the service or the provider is at fault', async () => {
    app.clock.advance(3 * 24 * HOUR);
    await app.service.presence.beat();
    const key = await app.key({ limits: { sessionsPerMinute: 100 } });
    for (let n = 0; n < 5; n += 1) await app.open(key);
    expect((await look()).verdict).toEqual({ us: 'fine', provider: 'fine', sentence: 'Provider: fine. Us: fine.' });
    app.provider.answer = () => Promise.reject(new Error('a defect'));
    for (let n = 0; n < 5; n += 1) await app.create(key);
    const { verdict, dependencies, nodes } = await look();
    expect(verdict).toMatchObject({
      us: 'degraded',
      sentence: expect.stringMatching(/^Provider: fine\. Us: .* requests failed/),
    });
    expect(dependencies.map(({ name }) => name)).toEqual(['database', 'registry', 'mail', 'provider']);
    expect(dependencies[3]?.latencyMs).toBeGreaterThan(0);
    expect(nodes).toHaveLength(1);
  });

  test('is computed at most once every two seconds', async () => {
    const { status, text } = await app.get('/api/operator/overview', service);
    await app.open(await app.key());
    app.clock.advance(2 * SECOND - 1);
    expect((await app.get('/api/operator/overview', service)).text).toBe(text);
    app.clock.advance(1);
    expect((await app.get('/api/operator/overview', service)).text).not.toBe(text);
    expect(status).toBe(200);
  });

  test('judges without the database while that is away, and has its figures again once it is back', async () => {
    await app.service.presence.beat();
    database().isAway = true;
    await app.service.presence.beat();
    const away = await app.get('/api/operator/overview', service);
    expect(away).toMatchObject({
      status: 200,
      body: {
        byState: null,
        byCaller: null,
        byTenant: null,
        spend: null,
        endingSoon: null,
        lateHangups: null,
        activity: null,
        verdict: {
          us: 'degraded',
          provider: 'unknown',
          sentence: 'Provider: its counts cannot be read. Us: the database is away.',
        },
        dependencies: [{ name: 'database', state: 'away' }, { name: 'registry', state: 'ok' }, {}, {}],
      },
    });
    expect(away.body['nodes']).toHaveLength(1);
    database().isAway = false;
    await app.service.presence.beat();
    database().passedMs += 8 * SECOND;
    app.clock.advance(2 * SECOND);
    expect(await app.get('/api/operator/overview', service)).toMatchObject({
      status: 200,
      body: { byState: { engaged: expect.any(Number) }, spend: { dollars: 0 }, verdict: { us: 'fine' } },
    });
  });

  test('tells a tenant’s admin nothing about the installation then either', async () => {
    const cookie = await app.login('boss@globex.example');
    expect((await app.get('/api/operator/overview', { cookie })).status).toBe(200);
    app.clock.advance(2 * SECOND);
    database().isAway = true;
    expect(await app.get('/api/operator/overview', { cookie })).toMatchObject({
      status: 200,
      body: { byState: null, activity: null, verdict: null, dependencies: [], nodes: [] },
    });
  });
});

describe('Activity over time', () => {
  interface Series {
    readonly seriesBy: string;
    readonly series: readonly { at: string; started: number; ended: number; refused: number }[];
  }
  const ask = async (query: string, headers: Readonly<Record<string, string>> = service): Promise<Series> => {
    await app.service.activityWriter.flush();
    app.clock.advance(5 * SECOND);
    const { status, body } = await app.get(`/api/operator/activity${query}`, headers);
    expect(status).toBe(200);
    return body as unknown as Series;
  };
  const sums = ({ series }: Series) =>
    (['started', 'ended', 'refused'] as const).map((what) => series.reduce((sum, each) => sum + each[what], 0));

  test('is given by the minute or hour, including empty ones, to each caller for what they may see', async () => {
    // A time at which no other test has counted anything.
    app.clock.advance(100 * 24 * HOUR);
    const key = await app.key();
    const id = await app.open(key);
    await app.sessions.end(id, 'closed_by_client', app.clock.now());
    await app.service.activityWriter.flush();
    app.clock.advance(2 * MINUTE);
    await app.create(key, {}, { origin: 'https://evil.example' });
    const hour = await ask('');
    expect([hour.seriesBy, hour.series.length, sums(hour)]).toEqual(['minute', 60, [1, 1, 1]]);
    expect(hour.series.findIndex(({ started }) => started === 1)).toBe(57);
    expect(hour.series[59]).toEqual({
      at: new Date(app.clock.now() - (app.clock.now() % MINUTE)).toISOString(),
      started: 0,
      ended: 0,
      refused: 1,
    });
    const day = await ask('?span=day');
    expect([day.seriesBy, day.series.length, sums(day)]).toEqual(['hour', 24, [1, 1, 1]]);
    expect(sums(await ask('?tenantId=globex'))).toEqual([0, 0, 0]);
    expect(sums(await ask('', await app.as('boss@globex.example')))).toEqual([0, 0, 0]);
  });

  test('has a usual value from the third day at the same time', async () => {
    app.clock.advance(200 * 24 * HOUR + HOUR / 2);
    const key = await app.key();
    const usual = async () => ((await look()).activity.hour as { usual?: unknown }).usual;
    for (let day = 0; day < 3; day += 1) {
      expect(await usual()).toBeNull();
      for (let n = 0; n < 4; n += 1) await app.create(key, {}, { origin: 'https://evil.example' });
      await app.service.activityWriter.flush();
      app.clock.advance(24 * HOUR);
    }
    expect(await usual()).toEqual({ started: 0, ended: {}, refused: { ORIGIN_MISMATCH: 2 } });
  });
});

describe('The list of processes', () => {
  test('is answered from memory while the database is away', async () => {
    await app.service.presence.beat();
    database().isAway = true;
    await app.service.presence.beat();
    const { status, body } = await app.get('/api/operator/nodes', service);
    expect(status).toBe(200);
    expect(body['nodes']).toMatchObject([
      {
        pid: process.pid,
        dependencies: [{ name: 'database', state: 'away' }, { name: 'registry', state: 'ok' }, {}, {}],
      },
    ]);
  });
});

describe('The changes', () => {
  interface Changes {
    readonly moved: readonly { readonly what: string; readonly now: number }[];
    readonly happened: readonly { readonly kind: string; readonly sentence: string }[];
  }

  async function changes(headers: Readonly<Record<string, string>> = service, more = ''): Promise<Changes> {
    const since = new Date(app.clock.now() - HOUR).toISOString();
    const { status, body } = await app.get(`/api/operator/changes?since=${since}${more}`, headers);
    expect(status).toBe(200);
    return body as unknown as Changes;
  }

  test('show what rose or fell, which processes started and what operators did', async () => {
    app.clock.advance(9 * 24 * HOUR);
    const key = await app.key({ tenantId: 'globex' });
    for (let n = 0; n < 10; n += 1) await app.create(key, {}, { origin: 'https://evil.example' });
    const id = await app.open(key);
    await app.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, {}, service);
    await app.service.presence.write();
    await app.service.activityWriter.flush();
    const told = await changes();
    expect(told.moved).toEqual(expect.arrayContaining([expect.objectContaining({ what: 'ORIGIN_MISMATCH', now: 10 })]));
    expect(told.happened.map(({ sentence }) => sentence)).toEqual(
      expect.arrayContaining([expect.stringContaining(`session.end ${id.slice(0, 42)}`)]),
    );
    expect(JSON.stringify(told)).not.toContain(id);
    const boss = await app.as('boss@globex.example');
    const own = await changes(boss);
    expect(own.moved).toMatchObject([{ what: 'ORIGIN_MISMATCH', now: 10 }]);
    expect(own.happened).toEqual([]);
    const scoped = await changes(service, '&tenantId=globex');
    expect(scoped.moved).toEqual(own.moved);
    expect(scoped.happened).toMatchObject([{ kind: 'audit' }]);
    expect(await changes(service, '&tenantId=acme')).toMatchObject({ moved: [], happened: [] });
    expect(await changes(boss, '&tenantId=acme')).toMatchObject({ moved: [], happened: [] });
  });
});
