import { describe, expect, test, vi } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { UpstreamFault, type UpstreamFaultKind } from '../../../src/upstream/contract.ts';
import { CONSOLE, somebody } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { app, useApp } from '../../support/use-apps.ts';
import { changedAt } from '../../support/key-change.ts';

const { build } = useApp();

/** Limits that no test reaches by chance. */
const roomy = { concurrentSessions: 100, sessionsPerMinute: 100 };

function codes(replies: readonly { readonly status: number; readonly body: Readonly<Record<string, unknown>> }[]) {
  return replies.map(({ status, body }) => (status === 200 ? 'opened' : body['code']));
}

function atOnce<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, work));
}

describe('Sessions at once', () => {
  test('are never more than the limit, also when 50 creates race', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 7 } });
    const replies = codes(await atOnce(50, () => app.create(key)));
    expect(replies.filter((code) => code === 'opened')).toHaveLength(7);
    expect(replies.filter((code) => code === 'MAX_CONCURRENT_SESSIONS')).toHaveLength(43);
    expect(app.provider.requests).toHaveLength(7);
  });

  test('are counted while their secrets are still being minted', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    const release = app.provider.hold();
    const first = app.create(key);
    const second = await app.create(key);
    release();
    expect(codes([await first, second])).toEqual(['opened', 'MAX_CONCURRENT_SESSIONS']);
    expect(second.body['error']).toBe('1 session is open already; end one with /api/realtime/end.');
  });

  test('are counted for each subject alone', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    const bodies = [{}, { email: somebody() }, { email: somebody() }];
    expect(codes(await Promise.all(bodies.map((body) => app.create(key, body))))).toEqual([
      'opened',
      'opened',
      'opened',
    ]);
  });

  test('leave their place free when they end, at once', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    const id = await app.open(key);
    await app.post('/api/realtime/end', { sm_session_id: id });
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });

  test('leave their place free when they go idle, and not before', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    await app.open(key);
    app.clock.advance(301 * SECOND - 1);
    await app.sweep();
    const early = await app.create(key);
    app.clock.advance(1);
    await app.sweep();
    expect(codes([early, await app.create(key)])).toEqual(['MAX_CONCURRENT_SESSIONS', 'opened']);
  });

  test('keep their place with every heartbeat', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    const id = await app.open(key);
    for (let beats = 0; beats < 4; beats += 1) {
      app.clock.advance(200 * SECOND);
      await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    }
    expect(codes([await app.create(key)])).toEqual(['MAX_CONCURRENT_SESSIONS']);
  });

  test('are counted again when the service has died without a word, but for no longer than a lease', async () => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    await app.open(key);
    // No sweep runs.
    app.clock.advance(307 * SECOND);
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });
});

describe('Sessions a minute', () => {
  test('are as many as the key allows, and the refusal tells when the next may come', async () => {
    const key = await app.key({ limits: { ...roomy, sessionsPerMinute: 3 } });
    app.clock.advance(12_345);
    const replies = await atOnce(5, () => app.create(key));
    expect(codes(replies).filter((code) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(2);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body['retryAfter']).toBe(48);
    expect(refused?.headers['retry-after']).toBe('48');
    app.clock.advance(47_654);
    expect(codes([await app.create(key)])).toEqual(['RATE_LIMIT_EXCEEDED']);
    app.clock.advance(1);
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });

  test('outlive a restart', async () => {
    const key = await app.key({ limits: { ...roomy, sessionsPerMinute: 1 } });
    await app.open(key);
    const next = await build({ clock: app.clock });
    const refused = await next.create(key);
    expect(codes([refused])).toEqual(['RATE_LIMIT_EXCEEDED']);
    expect(refused.body['error']).toMatch(/^More than 1 session in a minute; /);
  });

  test('stay counted when a later step refuses', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 3, concurrentSessions: 1 } });
    const replies = [await app.create(key), await app.create(key), await app.create(key), await app.create(key)];
    expect(codes(replies)).toEqual([
      'opened',
      'MAX_CONCURRENT_SESSIONS',
      'MAX_CONCURRENT_SESSIONS',
      'RATE_LIMIT_EXCEEDED',
    ]);
  });

  test('stay counted when the quota refuses, which takes no slot and mints nothing', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1, dailyTokens: 0 } });
    expect(codes([await app.create(key), await app.create(key)])).toEqual([
      'DAILY_QUOTA_EXCEEDED',
      'RATE_LIMIT_EXCEEDED',
    ]);
    expect(await app.live.slots.count(app.service.subjects.widgetKey('acme', key.id), app.clock.now())).toBe(0);
    expect(app.provider.requests).toHaveLength(0);
  });
});

describe('A failed mint', () => {
  const faults: [kind: UpstreamFaultKind, status: number, code: string][] = [
    ['timeout', 504, 'UPSTREAM_TIMEOUT'],
    ['refused', 502, 'UPSTREAM_ERROR'],
    ['malformed', 502, 'UPSTREAM_ERROR'],
    ['unreachable', 502, 'UPSTREAM_ERROR'],
  ];

  test.each(faults)('that is %s is answered with %i %s and gives slot and minute back', async (kind, status, code) => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault(kind, 'sk-secret of the provider'));
    const reply = await app.create(key);
    expect(reply).toMatchObject({ status, body: { code } });
    expect(reply.text).not.toContain('sk-secret');
    app.provider.answer = answer;
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });

  test.each([
    ['asks to wait', 'rate_limit_exceeded', 429, 'RATE_LIMIT_EXCEEDED', '7'],
    ['is not paid any more', 'insufficient_quota', 502, 'UPSTREAM_ERROR', undefined],
  ])('of a provider that %s gives slot and minute back', async (_, reason, status, code, retryAfter) => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const { answer } = app.provider;
    const facts = { status: 429, code: reason, retryAfterSec: 7 };
    app.provider.answer = () => Promise.reject(new UpstreamFault('refused', 'slower', facts));
    const reply = await app.create(key);
    expect(reply).toMatchObject({ status, body: { code } });
    expect(reply.headers['retry-after']).toBe(retryAfter);
    app.provider.answer = answer;
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });

  test('is tried once only', async () => {
    app.provider.answer = () => Promise.reject(new UpstreamFault('timeout', 'late'));
    await app.create(await app.key());
    expect(app.provider.requests).toHaveLength(1);
  });

  test('by a defect is 500 and gives slot and minute back', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new TypeError('a defect that tells sk-secret'));
    const reply = await app.create(key);
    expect(reply).toMatchObject({ status: 500, body: { code: 'INTERNAL_ERROR' } });
    expect(reply.text).not.toContain('sk-secret');
    app.provider.answer = answer;
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });
});

describe('A create that has asked the provider', () => {
  /** A create whose caller hangs up after the provider has been asked. */
  async function hungUp(key: WidgetKey): Promise<void> {
    const abort = new AbortController();
    const release = app.provider.hold();
    const asked = app.provider.requests.length;
    const [headers, body] = [{ origin: key.origin }, { widgetKey: key.key }];
    const lost = app.send({ method: 'POST', path: '/api/session', body, headers, signal: abort.signal });
    // A create that is refused never asks the provider.
    await Promise.race([lost, vi.waitFor(() => expect(app.provider.requests.length).toBeGreaterThan(asked))]);
    abort.abort();
    release();
    await lost;
  }

  test('stays counted in the minute when the caller hangs up, and gives its slot back', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 2, concurrentSessions: 1 } });
    await hungUp(key);
    expect(await app.live.registry.size()).toBe(0);
    const last = await app.create(key);
    await app.post('/api/realtime/end', { sm_session_id: last.body['sm_session_id'] });
    expect(codes([last, await app.create(key)])).toEqual(['opened', 'RATE_LIMIT_EXCEEDED']);
  });

  test('mints no more often than sessions a minute are allowed, however many callers hang up', async () => {
    const key = await app.key({ limits: { ...roomy, sessionsPerMinute: 12 } });
    for (let caller = 0; caller < 40; caller += 1) await hungUp(key);
    expect(app.provider.requests).toHaveLength(12);
    expect(codes([await app.create(key)])).toEqual(['RATE_LIMIT_EXCEEDED']);
  });

  test('stays counted when the caller hangs up although the provider then fails', async () => {
    const key = await app.key({ limits: { ...roomy, sessionsPerMinute: 1 } });
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault('unreachable', 'the request was aborted'));
    await hungUp(key);
    app.provider.answer = answer;
    expect(codes([await app.create(key)])).toEqual(['RATE_LIMIT_EXCEEDED']);
  });

  test.each([
    [400, 'RATE_LIMIT_EXCEEDED'],
    [422, 'RATE_LIMIT_EXCEEDED'],
    [401, 'opened'],
    [429, 'opened'],
    [500, 'opened'],
  ])('that the provider refuses with %i lets the next of one a minute be %s', async (status, next) => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault('refused', 'no', { status }));
    expect(codes([await app.create(key, { model: 'nonsense' })])).toEqual(['UPSTREAM_ERROR']);
    app.provider.answer = answer;
    expect(codes([await app.create(key)])).toEqual([next]);
  });

  test('stays counted in the minute when the session cannot be written down, and gives its slot back', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 2, concurrentSessions: 1 } });
    const { history } = app.service.stores;
    const insert = history.insert.bind(history);
    history.insert = () => Promise.reject(new Unavailable('database'));
    const reply = await app.create(key);
    expect(reply).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE', retryAfter: 2 } });
    expect(reply.headers['retry-after']).toBe('2');
    history.insert = insert;
    expect(codes([await app.create(key), await app.create(key)])).toEqual(['opened', 'RATE_LIMIT_EXCEEDED']);
  });

  test('has asked nothing when the caller is gone before: nothing is minted and nothing counted', async () => {
    const key = await app.key({ limits: { sessionsPerMinute: 1, concurrentSessions: 1 } });
    const [headers, body] = [{ origin: key.origin }, { widgetKey: key.key }];
    await app.send({ method: 'POST', path: '/api/session', body, headers, signal: AbortSignal.abort() });
    expect(app.provider.requests).toHaveLength(0);
    expect(codes([await app.create(key)])).toEqual(['opened']);
  });
});

describe('A revoked key', () => {
  test('ends its live sessions, and no other key’s', async () => {
    const [key, other] = [await app.key(), await app.key()];
    const ids = [await app.open(key), await app.open(key, { email: somebody() }), await app.open(other)];
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    await app.service.directory.stop();
    const records = await Promise.all(ids.map(async (id) => app.sessions.find(id)));
    expect(records.map((record) => record?.endReason)).toEqual(['key_revoked', 'key_revoked', null]);
  });

  test('opens no session, also not one whose secret was being minted when it was revoked', async () => {
    const key = await app.key();
    const release = app.provider.hold();
    const slow = app.create(key);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await app.service.stores.tenants.revoke('acme', key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    release();
    expect(codes([await slow, await app.create(key)])).toEqual(['INVALID_WIDGET_KEY', 'INVALID_WIDGET_KEY']);
    expect(await app.live.registry.ofKey('acme', key.id)).toEqual([]);
    expect(await app.live.slots.count(app.service.subjects.widgetKey('acme', key.id), app.clock.now())).toBe(0);
  });
});

describe('A session that is ended while it is registered, before the history has it', () => {
  test.each([
    ['key_revoked', 401, 'INVALID_WIDGET_KEY'],
    ['quota_exceeded', 429, 'DAILY_QUOTA_EXCEEDED'],
    ['closed_by_operator', 503, 'SERVICE_UNAVAILABLE'],
  ] as const)('by %s is not opened, and over in the history too', async (reason, status, code) => {
    const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 } });
    const { registry } = app.live;
    const insert = registry.insert.bind(registry);
    let id = '';
    registry.insert = (record) => {
      const isNew = insert(record);
      id = record.id;
      void app.sessions.end(id, reason, app.clock.now());
      return isNew;
    };
    expect(await app.create(key)).toMatchObject({ status, body: { code } });
    expect((await app.service.stores.history.find(id))?.endReason).toBe(reason);
    registry.insert = insert;
    expect((await app.create(key)).status).toBe(200);
  });
});

describe('A session whose create is rolled back after it was written', () => {
  test.each(['slots', 'keySlots'] as const)(
    'because its place in %s was lost ends as create_failed, and leaves the place free',
    async (place) => {
      const key = await app.key({ limits: { ...roomy, concurrentSessions: 1 }, totals: { concurrentSessions: 1 } });
      const store: { confirm(...given: never[]): unknown } =
        place === 'slots' ? app.live.slots : app.service.stores.keySlots;
      const confirm = store.confirm.bind(store);
      store.confirm = () => Promise.resolve(false);
      let id = '';
      const { history } = app.service.stores;
      const insert = history.insert.bind(history);
      history.insert = (row) => {
        id = row.record.id;
        return insert(row);
      };
      expect(await app.create(key)).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
      expect(await history.find(id)).toMatchObject({ endReason: 'create_failed' });
      history.insert = insert;
      store.confirm = confirm;
      expect(codes([await app.create(key)])).toEqual(['opened']);
    },
  );
});

describe('A console caller', () => {
  test('has the limits of the console: one at once, three a minute', async () => {
    const cookie = await app.login(somebody());
    const create = () => app.post('/api/session', {}, { cookie, origin: CONSOLE });
    const first = await create();
    const replies = [first, await create()];
    await app.post('/api/realtime/end', { sm_session_id: first.body['sm_session_id'] });
    expect(codes([...replies, await create(), await create()])).toEqual([
      'opened',
      'MAX_CONCURRENT_SESSIONS',
      'MAX_CONCURRENT_SESSIONS',
      'RATE_LIMIT_EXCEEDED',
    ]);
    app.clock.advance(MINUTE);
  });
});
