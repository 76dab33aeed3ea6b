import { describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { service, STAFF, unique, type Reply } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

const free = { limits: { sessionsPerMinute: 10_000, concurrentSessions: 10_000 } };

const { database } = useApp({ env: STAFF });

const end = (body: object, headers: Record<string, string> = service): Promise<Reply> =>
  app.post('/api/operator/sessions/end', body, headers);

async function open(count: number, agentId: string, tenantId = 'acme'): Promise<string[]> {
  const key = await app.key({ ...free, tenantId });
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await app.open(key, { agentId }));
  return ids;
}

describe('Ending many sessions', () => {
  test('counts first, which ends nothing', async () => {
    const agentId = unique('agent');
    const ids = [...(await open(2, agentId)), ...(await open(1, agentId, 'globex'))];
    await app.post('/api/realtime/end', { sm_session_id: ids[0] });
    const { status, body } = await end({ filter: { agentId }, dryRun: true });
    expect([status, body]).toMatchObject([
      200,
      {
        matched: 2,
        expected: 2,
        byState: { engaged: 2, idle: 0, stale: 0 },
        byTenant: { acme: 1, globex: 1 },
        sample: [{ state: 'engaged' }, { state: 'engaged' }],
      },
    ]);
    for (const id of ids.slice(1)) expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    expect((await end({ filter: { agentId, state: 'ended' }, dryRun: true })).body).toMatchObject({ matched: 0 });
  });

  test('ends at most 500 per request and the rest with further requests, as one act in the audit', async () => {
    const agentId = unique('agent');
    const [sample] = await open(1, agentId);
    const record = await app.sessions.find(sample ?? '');
    if (record === undefined) throw new Error('opened just now');
    const ids = Array.from({ length: 511 }, (_, n) => `${record.id.slice(0, 35)}${String(n).padStart(22, '0')}`);
    await Promise.all(
      ids.map((id) => app.service.stores.history.insert({ record: { ...record, id }, state: 'engaged' })),
    );
    const first = await end({ filter: { agentId }, expected: 512, reason: 'leaked' });
    const batchId = String(first.body['batchId']);
    expect(first).toMatchObject({ status: 200, body: { ended: 500, failed: 0, remaining: 12, batchId } });
    app.clock.advance(SECOND);
    const second = await end({ filter: { agentId }, expected: 12, reason: 'leaked', batchId });
    expect(second.body).toEqual({ ended: 12, failed: 0, remaining: 0, batchId, isAudited: true });
    for (const id of [sample ?? '', ...ids.slice(0, 3), ids.at(-1) ?? ''])
      expect(await app.service.stores.history.find(id)).toMatchObject({ endReason: 'closed_by_operator' });
    const { body } = await app.get(`/api/operator/audit?batchId=${batchId}&action=sessions.end`, service);
    expect(body['rows']).toMatchObject([
      { target: `agentId=${agentId}`, reason: 'leaked', batchId, result: 'done', count: 12 },
      { target: `agentId=${agentId}`, reason: 'leaked', batchId, result: 'done', count: 500 },
    ]);
    const detail = await app.get(`/api/operator/sessions/${encodeURIComponent(sample ?? '')}`, service);
    expect(detail.body).toMatchObject({ endedBy: { reason: 'leaked' }, audit: [{ batchId, result: 'done' }] });
  });

  test('ends nothing if a tenth more match than expected, and says how many do', async () => {
    const agentId = unique('agent');
    const ids = await open(11, agentId);
    const reply = await end({ filter: { agentId }, expected: 9 });
    expect(errorOf(reply)).toEqual({ status: 409, code: 'COUNT_CHANGED' });
    expect(reply.body['matched']).toBe(11);
    expect(await app.sessions.find(ids[0] ?? '')).toMatchObject({ endedAtMs: null });
    expect((await end({ filter: { agentId }, expected: 10 })).body).toMatchObject({ ended: 11, remaining: 0 });
    expect((await end({ filter: { agentId }, expected: 0 })).body).toMatchObject({ ended: 0, failed: 0, remaining: 0 });
  });

  test('continues an act only for the operator who began it', async () => {
    const agentId = unique('agent');
    const [id = ''] = await open(1, agentId);
    const { body } = await end({ filter: { agentId: 'nobody' }, expected: 0 });
    const ask = { filter: { agentId }, expected: 1, batchId: body['batchId'] };
    const ops = await app.as('ops@example.com');
    for (const foreign of [ask, { ...ask, batchId: `batch_${'x'.repeat(22)}` }]) {
      const refused = await end(foreign, ops);
      expect(errorOf(refused)).toEqual({ status: 409, code: 'CONFLICT' });
      expect(await whyRefused(app, refused)).toBe('Nothing was changed: the act was begun by somebody else.');
    }
    expect(await app.sessions.find(id)).toMatchObject({ endedAtMs: null });
    expect((await end(ask)).body).toMatchObject({ ended: 1, batchId: body['batchId'] });
    const { rows } = (await app.get(`/api/operator/audit?batchId=${String(body['batchId'])}`, service)).body as {
      rows: readonly { actor: string }[];
    };
    expect(new Set(rows.map(({ actor }) => actor)).size).toBe(1);
  });

  test('ends all only if asked for explicitly, and only those of the caller’s tenants', async () => {
    const agentId = unique('agent');
    const [acmes, globexs] = [await open(1, agentId), await open(1, agentId, 'globex')];
    const boss = await app.as('boss@globex.example');
    const counted = (await end({ filter: {}, all: true, dryRun: true }, boss)).body;
    expect(counted['byTenant']).toEqual({ globex: counted['matched'] });
    expect((await end({ filter: { tenantId: 'acme' }, dryRun: true }, boss)).body).toMatchObject({ matched: 0 });
    const { body } = await end({ filter: {}, all: true, expected: counted['expected'] }, boss);
    expect(body).toMatchObject({ ended: counted['matched'], remaining: 0 });
    expect(await app.sessions.find(globexs[0] ?? '')).toMatchObject({ endReason: 'closed_by_operator' });
    expect(await app.sessions.find(acmes[0] ?? '')).toMatchObject({ endedAtMs: null });
  });

  test('is a single row of the audit if that is asked for and visible, otherwise a row for each end', async () => {
    app.clock.advance(40_000 * SECOND);
    const from = new Date(app.clock.now()).toISOString();
    const agentId = unique('agent');
    const ids = [...(await open(1, agentId)), ...(await open(2, agentId, 'globex'))];
    const { body: all } = await end({ filter: { agentId }, expected: 3 });
    const boss = await app.as('boss@globex.example');
    await open(2, agentId, 'globex');
    const { body: own } = await end({ filter: { agentId }, expected: 2 }, boss);
    const acted = async (query: string, headers: Record<string, string> = service): Promise<string[]> => {
      const { body } = await app.get(`/api/operator/audit?from=${from}${query}`, headers);
      return (body['rows'] as { action: string; batchId: string; count: number | null }[]).map(
        ({ action, batchId, count }) => `${action} ${batchId === own['batchId'] ? 'own' : 'all'} ${count}`,
      );
    };
    const [ownWhole, allWhole, ownPart, allPart] = [
      'sessions.end own 2',
      'sessions.end all 3',
      'session.end own null',
      'session.end all null',
    ];
    expect(await acted('')).toHaveLength(7);
    expect(await acted('&batches=listed')).toHaveLength(7);
    expect(await acted('&batches=folded')).toEqual([ownWhole, allWhole]);
    expect(await acted('&batches=folded&action=sessions.end')).toEqual([ownWhole, allWhole]);
    expect(await acted('&batches=folded', boss)).toEqual([ownWhole, allPart, allPart]);
    expect(await acted('&batches=folded&tenantId=globex')).toEqual([ownWhole, allPart, allPart]);
    expect(await acted('&batches=folded&tenantId=acme')).toEqual([allPart]);
    // Folding does not hide what is asked for by name.
    expect(await acted('&batches=folded&action=session.end')).toEqual([ownPart, ownPart, allPart, allPart, allPart]);
    expect(await acted(`&batches=folded&target=${ids[0]?.slice(0, 42)}`)).toEqual([allPart]);
    expect(await acted(`&batches=folded&batchId=${String(all['batchId'])}`)).toEqual([
      allPart,
      allPart,
      allPart,
      allWhole,
    ]);
  });

  test('says how many failed, and stores that', async () => {
    const agentId = unique('agent');
    const ids = await open(3, agentId);
    const { sessions } = app;
    const ending = sessions.end.bind(sessions);
    vi.spyOn(sessions, 'end').mockImplementation((id, ...rest) =>
      id === ids[1] ? Promise.reject(new Unavailable('registry')) : ending(id, ...rest),
    );
    const { body } = await end({ filter: { agentId }, expected: 3 });
    expect(body).toMatchObject({ ended: 2, failed: 1, remaining: 1 });
    vi.restoreAllMocks();
    const { rows } = (await app.get(`/api/operator/audit?batchId=${String(body['batchId'])}`, service)).body as {
      rows: { action: string; result: string; count: number | null }[];
    };
    expect(rows.map(({ action, result, count }) => `${action} ${result} ${count}`).toSorted()).toEqual([
      'session.end done null',
      'session.end done null',
      'session.end failed null',
      'sessions.end done 2',
    ]);
  });

  test('does not count ends as failed that the history has yet to accept', async () => {
    const agentId = unique('agent');
    const ids = await open(2, agentId);
    const { history } = app.service.stores;
    vi.spyOn(history, 'save').mockRejectedValue(new Unavailable('database'));
    const { status, body } = await end({ filter: { agentId }, expected: 2 });
    expect([status, body]).toMatchObject([200, { ended: 0, failed: 2, isAudited: false }]);
    vi.restoreAllMocks();
    for (const id of ids) expect(await app.sessions.find(id)).toMatchObject({ endReason: 'closed_by_operator' });
    const { rows } = (await app.get(`/api/operator/audit?batchId=${String(body['batchId'])}`, service)).body as {
      rows: { action: string; result: string | null }[];
    };
    expect(rows.map(({ action, result }) => `${action} ${result}`).toSorted()).toEqual([
      'session.end null',
      'session.end null',
      'sessions.end null',
    ]);
  });

  test('says what was done, and what it could not record, if the database goes away afterwards', async () => {
    const agentId = unique('agent');
    const ids = await open(2, agentId);
    const { journal } = app.service.stores;
    vi.spyOn(journal, 'settle').mockImplementation(() => {
      database().isAway = true;
      return Promise.reject(new Unavailable('database'));
    });
    const { status, body } = await end({ filter: { agentId }, expected: 2 });
    expect([status, body]).toMatchObject([200, { ended: 2, failed: 0, remaining: 0, isAudited: false }]);
    vi.restoreAllMocks();
    database().isAway = false;
    const { rows } = (await app.get(`/api/operator/audit?batchId=${String(body['batchId'])}`, service)).body as {
      rows: { action: string; result: string | null }[];
    };
    expect(rows).toHaveLength(3);
    expect(rows.every(({ result }) => result === null)).toBe(true);
    for (const id of ids) expect(await app.sessions.find(id)).toMatchObject({ endReason: 'closed_by_operator' });
  });
});
