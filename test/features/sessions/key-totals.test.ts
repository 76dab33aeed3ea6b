import { beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { UpstreamFault } from '../../../src/upstream/contract.ts';
import { SERVICE_TOKEN, somebody, type Reply, type TestApp } from '../../support/app.ts';
import { MINUTE, SECOND } from '../../support/clock.ts';
import { useApps } from '../../support/use-apps.ts';

const { build } = useApps();

let app: TestApp;
beforeEach(async () => {
  app = await build();
});

const codeOf = ({ status, body }: Reply) => (status === 200 ? 'opened' : body['code']);

/** Creates a session for a visitor not seen before. */
const stranger = (key: WidgetKey) => app.create(key, { email: somebody() });

async function strangers(key: WidgetKey, times: number): Promise<unknown[]> {
  const replies = await Promise.all(Array.from({ length: times }, () => stranger(key)));
  return replies.map(codeOf);
}

const count = (codes: readonly unknown[], code: string) => codes.filter((one) => one === code).length;

function report(id: string, email: string, tokens: number, dollars = 0): Promise<Reply> {
  return app.post('/api/auth/usage', { sm_session_id: id, email, tokens, dollars });
}

/** Opens a session for a new visitor. */
async function visit(key: WidgetKey): Promise<{ id: string; email: string }> {
  const email = somebody();
  return { id: await app.open(key, { email }), email };
}

async function endReasonOf({ id }: { id: string }) {
  return (await app.sessions.find(id))?.endReason;
}

describe("A key's total of sessions at once", () => {
  test('holds over any number of visitors, also when 40 creates race', async () => {
    const key = await app.key({ totals: { concurrentSessions: 2 } });
    const codes = await strangers(key, 40);
    expect([count(codes, 'opened'), count(codes, 'MAX_CONCURRENT_SESSIONS')]).toEqual([2, 38]);
    expect(app.provider.requests).toHaveLength(2);
  });

  test('leaves no slot of a visitor behind whom it refuses', async () => {
    const key = await app.key({ totals: { concurrentSessions: 1 }, limits: { concurrentSessions: 1 } });
    const { id, email } = await visit(key);
    const late = somebody();
    expect(codeOf(await app.create(key, { email: late }))).toBe('MAX_CONCURRENT_SESSIONS');
    await app.post('/api/realtime/end', { sm_session_id: id, email });
    expect(codeOf(await app.create(key, { email: late }))).toBe('opened');
  });

  test('takes nothing from another key, or from a key without totals', async () => {
    const key = await app.key({ totals: { concurrentSessions: 1 } });
    const other = await app.key({ totals: { concurrentSessions: 1 } });
    expect([await strangers(key, 1), await strangers(other, 1)]).toEqual([['opened'], ['opened']]);
    expect(count(await strangers(await app.key(), 15), 'opened')).toBe(15);
  });

  test('is free again when a session goes idle, and when a mint fails', async () => {
    const key = await app.key({ totals: { concurrentSessions: 1 } });
    await visit(key);
    app.clock.advance(301 * SECOND);
    await app.sweep();
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault('timeout', 'late'));
    expect(codeOf(await stranger(key))).toBe('UPSTREAM_TIMEOUT');
    app.provider.answer = answer;
    expect(await strangers(key, 2)).toContain('opened');
    expect(await strangers(key, 1)).toEqual(['MAX_CONCURRENT_SESSIONS']);
  });

  test('counts what is open when it is set, and outlives a restart that loses the live registry', async () => {
    const key = await app.key();
    await visit(key);
    await app.service.stores.tenants.merge([
      { id: 'acme', name: 'Acme', agents: [], admins: null, keys: [{ ...key, totals: { concurrentSessions: 2 } }] },
    ]);
    await app.service.directory.reload();
    await visit(key);
    expect(await strangers(key, 1)).toEqual(['MAX_CONCURRENT_SESSIONS']);
    app = await build({ clock: app.clock });
    expect(await strangers(key, 1)).toEqual(['MAX_CONCURRENT_SESSIONS']);
  });

  test('admits nobody for whom the lease had lapsed before the session was written down', async () => {
    const key = await app.key({ totals: { concurrentSessions: 1 } });
    const release = app.provider.hold();
    const frozen = stranger(key);
    while (app.provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    app.clock.advance(60 * SECOND);
    const others = strangers(key, 1);
    while (app.provider.requests.length === 1) await new Promise((resolve) => setImmediate(resolve));
    release();
    expect(codeOf(await frozen)).toBe('SERVICE_UNAVAILABLE');
    expect(await others).toEqual(['opened']);
    expect(await app.live.registry.ofKey('acme', key.id)).toHaveLength(1);
  });
});

describe("A key's total of sessions a minute", () => {
  test('holds over any number of visitors, until the minute is over', async () => {
    const key = await app.key({ totals: { sessionsPerMinute: 5 } });
    const codes = await strangers(key, 40);
    expect([count(codes, 'opened'), count(codes, 'RATE_LIMIT_EXCEEDED')]).toEqual([5, 35]);
    const refused = await stranger(key);
    expect(refused.headers['retry-after']).toBe('60');
    app.clock.advance(MINUTE);
    expect(codeOf(await stranger(key))).toBe('opened');
  });

  test('is not spent by a visitor who is over the limit of one, nor does it spend that', async () => {
    const key = await app.key({ totals: { sessionsPerMinute: 3 }, limits: { sessionsPerMinute: 2 } });
    const [greedy, late] = [somebody(), somebody()];
    const create = async (email: string) => codeOf(await app.create(key, { email }));
    const codes = [await create(greedy), await create(greedy), await create(greedy), await create(late)];
    expect(codes).toEqual(['opened', 'opened', 'RATE_LIMIT_EXCEEDED', 'opened']);
    for (let tries = 0; tries < 3; tries += 1) expect(await create(late)).toBe('RATE_LIMIT_EXCEEDED');
    const raised = { ...key, totals: { sessionsPerMinute: 9 } };
    await app.service.stores.tenants.merge([{ id: 'acme', name: 'Acme', agents: [], admins: null, keys: [raised] }]);
    await app.service.directory.reload();
    expect([await create(late), await create(late)]).toEqual(['opened', 'RATE_LIMIT_EXCEEDED']);
  });

  test('that cannot be counted gives the count of the visitor back', async () => {
    const key = await app.key({ totals: { sessionsPerMinute: 5 }, limits: { sessionsPerMinute: 1 } });
    const { counters } = app.service.stores;
    const take = counters.take.bind(counters);
    counters.take = (name, ...rest) =>
      name.includes('key:') ? Promise.reject(new Unavailable('database')) : take(name, ...rest);
    const email = somebody();
    expect(codeOf(await app.create(key, { email }))).toBe('SERVICE_UNAVAILABLE');
    counters.take = take;
    expect(codeOf(await app.create(key, { email }))).toBe('opened');
  });

  test('comes back with a mint that the provider failed', async () => {
    const key = await app.key({ totals: { sessionsPerMinute: 1 } });
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault('unreachable', 'away'));
    expect(codeOf(await stranger(key))).toBe('UPSTREAM_ERROR');
    app.provider.answer = answer;
    expect(await strangers(key, 2)).toContain('opened');
  });
});

describe("A key's total of the day", () => {
  test.each([
    ['tokens', { tokensDaily: 1000 }, 500, 0],
    ['dollars', { dollarsDaily: 0.3 }, 0, 0.15],
  ] as const)('of %s lets no session begin when it is reached, and ends all when it is exceeded', async (...row) => {
    const [, totals, tokens, dollars] = row;
    const key = await app.key({ totals });
    const other = await app.key({ totals });
    const visitors = [await visit(key), await visit(key), await visit(key)];
    const bystander = await visit(other);
    const [one, two, three] = visitors;
    if (one === undefined || two === undefined || three === undefined) throw new Error('three were opened');
    expect((await report(one.id, one.email, tokens, dollars)).status).toBe(200);
    expect((await report(two.id, two.email, tokens, dollars)).status).toBe(200);
    expect(codeOf(await stranger(key))).toBe('DAILY_QUOTA_EXCEEDED');
    expect(await endReasonOf(three)).toBeNull();
    expect(codeOf(await report(three.id, three.email, 1, 0.000_001))).toBe('DAILY_QUOTA_EXCEEDED');
    expect(await Promise.all(visitors.map(endReasonOf))).toEqual(visitors.map(() => 'quota_exceeded'));
    expect(codeOf(await stranger(key))).toBe('DAILY_QUOTA_EXCEEDED');
    expect([await endReasonOf(bystander), codeOf(await stranger(other))]).toEqual([null, 'opened']);
    app.clock.advance(24 * 60 * MINUTE);
    expect(codeOf(await stranger(key))).toBe('opened');
  });

  test('counts what was used before it was set', async () => {
    const key = await app.key();
    const { id, email } = await visit(key);
    await report(id, email, 700);
    const bounded = { ...key, totals: { tokensDaily: 700 } };
    await app.service.stores.tenants.merge([{ id: 'acme', name: 'Acme', agents: [], admins: null, keys: [bounded] }]);
    await app.service.directory.reload();
    expect(codeOf(await stranger(key))).toBe('DAILY_QUOTA_EXCEEDED');
  });

  test('that is used up while a secret is minted ends the session that is no sooner open', async () => {
    const key = await app.key({ totals: { tokensDaily: 1000, concurrentSessions: 5 } });
    const other = await visit(key);
    const release = app.provider.hold();
    const slow = stranger(key);
    while (app.provider.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await report(other.id, other.email, 1000);
    release();
    expect(codeOf(await slow)).toBe('DAILY_QUOTA_EXCEEDED');
    expect(await app.live.registry.ofKey('acme', key.id)).toEqual([other.id]);
  });

  test('ends each session once when many reports exceed it at once', async () => {
    const key = await app.key({ totals: { tokensDaily: 10 } });
    const visitors = await Promise.all(Array.from({ length: 12 }, () => visit(key)));
    const replies = await Promise.all(visitors.map(({ id, email }) => report(id, email, 11)));
    expect(replies.map(codeOf)).toEqual(visitors.map(() => 'DAILY_QUOTA_EXCEEDED'));
    expect(await Promise.all(visitors.map(endReasonOf))).toEqual(visitors.map(() => 'quota_exceeded'));
    expect(app.logged().match(/"reason":"quota_exceeded"/g)).toHaveLength(12);
  });

  test('is not touched by a report of a back end that names no session', async () => {
    const key = await app.key({ totals: { tokensDaily: 10 } });
    const visitor = await visit(key);
    const body = { email: somebody(), tenantId: 'acme', tokens: 1000, dollars: 0 };
    const reply = await app.post('/api/auth/usage', body, { authorization: `Bearer ${SERVICE_TOKEN}` });
    expect([reply.status, await endReasonOf(visitor), codeOf(await stranger(key))]).toEqual([200, null, 'opened']);
  });
});
