import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { NewEntry } from '../../src/stores/journal/contract.ts';
import { service, type Reply } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

useApp();

describe("The operator API tells what a session's machine did", () => {
  async function eventsOf(id: string, query = ''): Promise<Reply> {
    await app.service.journalWriter.flush();
    return app.get(`/api/operator/sessions/${encodeURIComponent(id)}/events${query}`, service);
  }

  test('from its opening to its end: the states, the guards that were checked, and who caused it', async () => {
    const id = await app.open(await app.key());
    app.clock.advance(6 * 60 * SECOND);
    await app.sweep();
    await app.service.sessions.heartbeat(id, app.clock.now(), 0, () => true);
    const { status, body } = await eventsOf(id);
    expect(status).toBe(200);
    // The whole id is the session's proof.
    expect(JSON.stringify(body)).not.toContain(id);
    expect(body).toMatchObject({
      nextCursor: null,
      events: [
        { kind: 'ended', event: 'HEARTBEAT', from: 'idle', to: 'ended', detail: { reason: 'idle_exceeded' } },
        { kind: 'moved', event: 'CLOCK', from: 'engaged', to: 'idle', detail: { reason: null }, requestId: null },
        { kind: 'started', event: 'OPEN', from: null, to: 'engaged', requestId: expect.stringMatching(/^req_/) },
      ],
    });
  });

  test('because of which request, whatever its kind', async () => {
    const key = await app.key();
    const asked = async (path: string, body: object): Promise<unknown> => {
      const { headers } = await app.post(path, body, path.startsWith('/api/operator') ? service : undefined);
      return headers['x-request-id'];
    };
    const newest = async (id: string): Promise<unknown> => ((await eventsOf(id)).body['events'] as unknown[])[0];
    const closed = await app.open(key);
    const byClient = await asked('/api/realtime/end', { sm_session_id: closed });
    expect(await newest(closed)).toMatchObject({ kind: 'ended', event: 'END', requestId: byClient });
    const stopped = await app.open(key);
    const byOperator = await asked(`/api/operator/sessions/${encodeURIComponent(stopped)}/end`, {});
    expect(await newest(stopped)).toMatchObject({ kind: 'ended', event: 'END', requestId: byOperator });
    const late = await app.open(key);
    app.clock.advance(6 * 60 * SECOND);
    const byHeartbeat = await asked('/api/realtime/heartbeat', { sm_session_id: late });
    expect(await newest(late)).toMatchObject({ kind: 'ended', event: 'HEARTBEAT', requestId: byHeartbeat });
    const spent = await app.open(await app.key({ limits: { dailyTokens: 10 } }));
    const byReport = await asked('/api/auth/usage', { sm_session_id: spent, tokens: 11, dollars: 0 });
    expect(await newest(spent)).toMatchObject({ detail: { reason: 'quota_exceeded' }, requestId: byReport });
    expect(byReport).toMatch(/^req_/);
  });

  test('with the silences of its client and its usage, each in its place', async () => {
    const id = await app.open(await app.key());
    const beat = () => app.service.sessions.heartbeat(id, app.clock.now(), 0, () => true);
    const { writer } = app.service.sessions.recovery;
    app.clock.advance(80 * SECOND);
    await beat();
    await writer.flush();
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 30, dollars: 0.5 });
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 12, dollars: 0.25 });
    app.clock.advance(95 * SECOND);
    app.service.sessionNotes.tick();
    await beat();
    await writer.flush();
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 1, dollars: 0 });
    await app.post('/api/realtime/end', { sm_session_id: id });
    const nothing = { event: null, from: null, to: null, steps: [], guards: [], requestId: null };
    expect((await eventsOf(id)).body['events']).toMatchObject([
      { kind: 'ended' },
      { kind: 'usage', detail: { tokens: 1, dollars: 0 } },
      { kind: 'gap', ...nothing, at: new Date(app.clock.now()).toISOString(), detail: { silentSec: 95 } },
      { kind: 'usage', ...nothing, detail: { tokens: 42, dollars: 0.75 } },
      { kind: 'started' },
    ]);
  });

  test('without 10,000 heartbeats that change nothing', async () => {
    const id = await app.open(await app.key());
    for (let n = 0; n < 10_000; n += 1) {
      app.clock.advance(50);
      await app.service.sessions.heartbeat(id, app.clock.now(), 0, () => true);
      if (n % 400 === 0) await app.service.sessions.recovery.writer.flush();
    }
    app.service.sessionNotes.tick();
    expect((await eventsOf(id)).body['events']).toMatchObject([{ kind: 'started' }]);
  });

  test('with the session itself', async () => {
    const id = await app.open(await app.key());
    app.clock.advance(6 * 60 * SECOND);
    await app.sweep();
    await app.service.journalWriter.flush();
    const { body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service);
    expect(body).toMatchObject({ events: [{ kind: 'moved' }, { kind: 'started' }], moreEvents: false, lost: [] });
  });

  test('with the periods in which events may be missing', async () => {
    const id = await app.open(await app.key());
    const at = app.clock.now();
    const lost = (atMs: number, count: number): NewEntry<'lost'> => ({
      id: randomId(),
      kind: 'lost',
      atMs,
      node: 'one',
      requestId: null,
      of: {},
      code: 'events',
      detail: { fromMs: at - 5 * SECOND, count },
    });
    await app.service.stores.journal.append([lost(at, 3), lost(at - 1, 4)]);
    const { body } = await app.get(`/api/operator/sessions/${encodeURIComponent(id)}`, service);
    expect(body['lost']).toMatchObject([{ node: 'one', count: 3 }]);
  });

  describe('and with `about` everything that happened to it, as one list', () => {
    const ALL = 'session,call,usage,tool,warning,webhook,operator,refusal';
    type Rows = { readonly about: string; readonly kind: string; readonly id: string; readonly at: string }[];

    async function busy(): Promise<string> {
      const id = await app.open(await app.key());
      for (const tokens of [30, 12, 5]) {
        await app.post('/api/auth/usage', { sm_session_id: id, tokens, dollars: 0.5 });
        // The middle two happen at the same instant.
        if (tokens !== 12) app.clock.advance(SECOND);
      }
      await app.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, { reason: 'a test' }, service);
      return id;
    }

    test('newest first, with counts on the first page', async () => {
      const id = await busy();
      const { body } = await eventsOf(id, `?about=${ALL}`);
      expect((body['events'] as Rows).map(({ about, kind }) => `${about} ${kind}`)).toEqual([
        'session ended',
        'operator act',
        'usage usage',
        'usage usage',
        'usage usage',
        'session started',
      ]);
      expect(body['events']).toMatchObject([
        { event: 'END' },
        { event: 'session.end', detail: { reason: 'a test', result: 'done' } },
        { detail: { tokens: 5, dollars: 0.5 } },
        { detail: { tokens: 12 } },
        { detail: { tokens: 30 } },
        {},
      ]);
      expect(body['counts']).toEqual({
        session: 2,
        call: 0,
        usage: 3,
        tool: 0,
        warning: 0,
        webhook: 0,
        operator: 1,
        refusal: 0,
      });
      expect(JSON.stringify(body)).not.toContain(id);
    });

    test('of the requested kinds only', async () => {
      const id = await busy();
      const { body } = await eventsOf(id, '?about=usage,warning&limit=2');
      expect((body['events'] as Rows).map(({ about }) => about)).toEqual(['usage', 'usage']);
      expect(body['counts']).toMatchObject({ session: 2, usage: 3 });
    });
  });
});
