import { describe, expect, test } from 'vitest';
import { service, unique } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

const { database } = useApp({ env: { OPERATOR_EMAILS: 'ops@example.com' } });

interface Page {
  readonly sessions: readonly { readonly id: string; readonly deadline: unknown }[];
  readonly nextCursor: string | null;
  readonly asOf: string;
  readonly searchedTo: string | null;
}

async function list(query: string, headers: Record<string, string> = service): Promise<Page> {
  const { status, body } = await app.get(`/api/operator/sessions?${query}`, headers);
  expect([status, body['error']]).toEqual([200, undefined]);
  return body as unknown as Page;
}

const at = (sec: number): string => new Date(NOON + sec * SECOND).toISOString();

describe('The list of sessions', () => {
  test('shows when the clock changes each session next, into which state, and why it would end', async () => {
    const agentId = unique('agent');
    const id = await app.open(await app.key(), { agentId });
    const only = async () => (await list(`agentId=${agentId}`)).sessions.map(({ deadline }) => deadline);
    expect(await only()).toEqual([{ at: at(301), to: 'idle', reason: null }]);
    app.clock.advance(700 * SECOND);
    await app.sessions.noteActivity(id, app.clock.now() - 410 * SECOND);
    await app.sweep();
    await app.flush();
    expect(await only()).toMatchObject([{ to: 'stale' }]);
    app.clock.advance(3601 * SECOND);
    await app.sweep();
    expect(await only()).toMatchObject([{ to: 'ended', reason: 'abandoned' }]);
    await app.post('/api/realtime/end', { sm_session_id: id });
    expect(await only()).toEqual([null]);
  });

  test('can be limited to one subject, and contains only the tenants that the caller may see', async () => {
    const email = 'of-two-tenants@example.com';
    const acmes = await app.open(await app.key(), { email });
    const other = await app.open(await app.key(), { email: 'another@example.com' });
    const subject = acmes.slice(2, 34);
    expect((await list(`subject=${subject}`)).sessions.map(({ id }) => id)).toEqual([acmes]);
    expect((await list(`subject=${other.slice(2, 34)}`)).sessions.map(({ id }) => id)).toEqual([other]);
    const boss = await app.as('boss@globex.example');
    expect((await list(`subject=${subject}`, boss)).sessions).toEqual([]);
  });

  test('shows which limits apply to a session, and what sets each', async () => {
    const key = await app.key({ limits: { dailyTokens: 10 }, totals: { dollarsDaily: 3 } });
    const id = await app.open(key);
    const { body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service);
    expect(body['limits']).toEqual({
      maxMinutes: { value: 15, setBy: 'MAX_SESSION_MINUTES' },
      maxIdleSec: { value: 300, setBy: 'MAX_SESSION_IDLE_SEC' },
      staleGraceSec: { value: 3600, setBy: 'STALE_GRACE_SEC' },
      staleReapSec: { value: 3600, setBy: 'STALE_REAP_SEC' },
      sessionsPerMinute: { value: 12, setBy: 'WIDGET_SESSION_PER_MIN' },
      concurrentSessions: { value: 10, setBy: 'WIDGET_MAX_CONCURRENT_SESSIONS' },
      dailyTokens: { value: 10, setBy: 'limits.dailyTokens' },
      dailyDollars: { value: 20, setBy: 'WIDGET_MAX_DOLLARS_DAILY' },
      'totals.dollarsDaily': { value: 3, setBy: 'totals.dollarsDaily' },
    });
  });

  test('says when it was read, and has sort orders whose cursors do not fit others', async () => {
    const agentId = unique('agent');
    const key = await app.key();
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.push(await app.open(key, { agentId }));
      app.clock.advance(SECOND);
    }
    await app.post('/api/realtime/end', { sm_session_id: ids[1] });
    await app.post('/api/realtime/end', { sm_session_id: ids[0] });
    const order = async (query: string) => (await list(query)).sessions.map(({ id }) => ids.indexOf(id));
    expect(await order(`agentId=${agentId}&sort=startedAt`)).toEqual([0, 1, 2]);
    expect(await order(`agentId=${agentId}&sort=-startedAt`)).toEqual([2, 1, 0]);
    expect(new Set(await order(`agentId=${agentId}&sort=-endedAt`))).toEqual(new Set([0, 1]));
    expect(await order(`agentId=${agentId}&state=engaged,idle`)).toEqual([2]);
    expect(await order(`agentId=${agentId}&caller=console`)).toEqual([]);
    expect(await order(`agentId=${agentId}&reason=closed_by_client,abandoned&keyId=${key.id}`)).toEqual([1, 0]);
    await app.flush();
    await database().run((sql) => sql`update voice_session set end_reason = 'later_reason' where id = ${ids[1] ?? ''}`);
    expect(await order(`agentId=${agentId}&reason=later_reason`)).toEqual([1]);
    expect(await order(`agentId=${agentId}&reason=closed_by_client,later_reason`)).toEqual([1, 0]);
    expect(await order(`agentId=${agentId}&from=${at(1)}&to=${at(2)}`)).toEqual([1]);
    const first = await list(`agentId=${agentId}&sort=startedAt&limit=1`);
    expect(first).toMatchObject({ asOf: new Date(app.clock.now()).toISOString(), searchedTo: null });
    expect(await order(`agentId=${agentId}&sort=startedAt&limit=1&cursor=${first.nextCursor}`)).toEqual([1]);
    for (const sort of ['-startedAt', '-endedAt']) {
      const reply = await app.get(`/api/operator/sessions?sort=${sort}&cursor=${first.nextCursor}`, service);
      expect(reply).toMatchObject({ status: 400, body: { details: [{ path: 'cursor' }] } });
    }
  });

  test('accepts a cursor from before there were sort orders', async () => {
    const agentId = unique('agent');
    const key = await app.key();
    const older = await app.open(key, { agentId });
    app.clock.advance(SECOND);
    const newer = await app.open(key, { agentId });
    const cursor = Buffer.from(JSON.stringify([NOON + SECOND, newer])).toString('base64url');
    expect((await list(`agentId=${agentId}&cursor=${cursor}`)).sessions).toMatchObject([{ id: older }]);
  });

  test('shows which sessions the clock ends soon, for both reasons, soonest first, page by page', async () => {
    const agentId = unique('agent');
    const key = await app.key({ limits: { sessionsPerMinute: 100, concurrentSessions: 100 } });
    const open = () => app.open(key, { agentId });
    const silent = await open();
    app.clock.advance(7171 * SECOND - 840 * SECOND);
    await app.sweep();
    const talking: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      talking.push(await open());
      app.clock.advance(10 * SECOND);
    }
    // The last one stays silent, so that it goes idle before its time is up.
    const [last] = talking.splice(3);
    for (let beat = 0; beat < 4; beat += 1) {
      app.clock.advance(200 * SECOND);
      for (const id of talking) await app.sessions.heartbeat(id, app.clock.now(), 0, () => true);
    }
    await app.sweep();
    await app.flush();
    const soon = async (query: string) => {
      const page = await list(`agentId=${agentId}&${query}`);
      return { ...page, ids: page.sessions.map(({ id }) => id) };
    };
    // It is now 840 s after the first talking session began.
    expect((await soon('endingWithinSec=3600')).ids).toEqual([silent, ...talking]);
    expect((await soon('endingWithinSec=29')).ids).toEqual([]);
    expect((await soon('endingWithinSec=60')).ids).toEqual([silent]);
    expect((await soon('endingWithinSec=61')).ids).toEqual([silent, ...talking.slice(0, 1)]);
    expect((await soon('endingWithinSec=71')).ids).toEqual([silent, ...talking.slice(0, 2)]);
    expect((await soon('endingWithinSec=3600&state=stale')).ids).toEqual([silent]);
    expect((await soon('endingWithinSec=3600&state=engaged')).ids).toEqual(talking);
    expect((await soon('endingWithinSec=3600&reason=abandoned')).ids).toEqual([]);
    expect((await soon('endingWithinSec=3600&tenantId=globex')).ids).toEqual([]);
    expect([silent, ...talking]).not.toContain(last);
  });
});
