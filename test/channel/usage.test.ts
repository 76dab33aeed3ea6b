import { describe, expect, it } from 'vitest';
import { somebody } from '../support/app.ts';
import { DAY, SECOND } from '../support/clock.ts';
import { attached, ChannelClient } from './client.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

describe('a usage report', () => {
  it("is answered with the day's totals", async () => {
    const app = await build();
    const email = somebody();
    const client = attached(app, await app.open(await app.key(), { email }), email);
    client.say({ type: 'usage', tokens: 1000, dollars: 0.123456, id: 'first' });
    expect(await client.hear()).toEqual({
      type: 'usage',
      id: 'first',
      usage: {
        tokens: 1000,
        dollars: 0.123456,
        dailyTokenLimit: 300_000,
        dailyDollarLimit: 20,
        resetAt: new Date(Math.ceil(app.clock.now() / DAY) * DAY).toISOString(),
      },
    });
  });

  it('with a repeated id is counted once, and refused if its content differs', async () => {
    const app = await build();
    const email = somebody();
    const client = attached(app, await app.open(await app.key(), { email }), email);
    for (const tokens of [5, 5, 6]) client.say({ type: 'usage', tokens, dollars: 0, id: 'same' });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { tokens: 5 } });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { tokens: 5 } });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'IDEMPOTENCY_MISMATCH', id: 'same' });
    client.say({ type: 'heartbeat' });
    expect(client.heard()).toMatchObject([{ type: 'heartbeat' }]);
  });

  it('with more than six decimals is rounded half up at the sixth', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'usage', tokens: 0, dollars: 0.1 + 0.2, id: 'a' });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { dollars: 0.3 } });
  });

  it('with an id that another session of the same visitor has used is another report', async () => {
    const app = await build();
    const key = await app.key();
    const [one, other] = [attached(app, await app.open(key)), attached(app, await app.open(key))];
    one.say({ type: 'usage', tokens: 5, dollars: 0, id: 'turn-1' });
    expect(await one.hear()).toMatchObject({ type: 'usage', usage: { tokens: 5 } });
    other.say({ type: 'usage', tokens: 6, dollars: 0, id: 'turn-1' });
    expect(await other.hear()).toMatchObject({ type: 'usage', usage: { tokens: 11 } });
  });

  it('counts as activity', async () => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    app.clock.advance(299 * SECOND);
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'a' });
    await client.hear();
    app.clock.advance(299 * SECOND);
    client.say({ type: 'heartbeat', idleSec: 299 });
    expect(client.heard()).toMatchObject([{ type: 'heartbeat', session: { idleSec: 299 } }]);
  });

  it('that crosses a ceiling ends all sessions of its subject', async () => {
    const app = await build({ env: { WIDGET_MAX_DOLLARS_DAILY: '1' } });
    const [key, email] = [await app.key(), somebody()];
    const client = attached(app, await app.open(key, { email }), email);
    const other = attached(app, await app.open(key, { email }), email);
    client.say({ type: 'usage', tokens: 0, dollars: 1, id: 'a' });
    expect(await client.hear()).toMatchObject({ type: 'warning', reason: 'quota' });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { dollars: 1 } });
    client.say({ type: 'usage', tokens: 0, dollars: 0.000001, id: 'b' });
    // The report counted, so the client need not repeat it elsewhere.
    expect(await client.hear()).toMatchObject({
      type: 'error',
      code: 'DAILY_QUOTA_EXCEEDED',
      id: 'b',
      counted: true,
      usage: { tokens: 0, dollars: 1.000001, dailyDollarLimit: 1, resetAt: expect.any(String) },
    });
    expect(await client.hear()).toMatchObject({ type: 'ended', reason: 'quota_exceeded' });
    await expect.poll(() => [client.closeCode, other.closeCode]).toEqual([4403, 4403]);
    expect(client.heard()).toEqual([]);
  });

  it('while the database is away is refused with its id and counts nothing, and the socket stays open', async () => {
    const app = await build();
    const email = somebody();
    const client = attached(app, await app.open(await app.key(), { email }), email);
    database().isAway = true;
    client.say({ type: 'usage', tokens: 7, dollars: 0, id: 'kept' });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'SERVICE_UNAVAILABLE', id: 'kept' });
    client.say({ type: 'heartbeat' });
    expect(client.heard()).toMatchObject([{ type: 'heartbeat' }]);
    database().isAway = false;
    client.say({ type: 'usage', tokens: 7, dollars: 0, id: 'kept' });
    expect(await client.hear()).toMatchObject({ type: 'usage', usage: { tokens: 7 } });
  });

  it.each([
    { tokens: 1, dollars: 0 },
    { tokens: -1, dollars: 0, id: 'a' },
    { tokens: 1.5, dollars: 0, id: 'a' },
    { tokens: 1, dollars: '1', id: 'a' },
    { tokens: 1, dollars: 100_001, id: 'a' },
    { tokens: 1, dollars: 0, id: '' },
    { tokens: 1, dollars: 0, id: 5 },
  ])('such as %j is a bad frame', async (fields) => {
    const app = await build();
    const client = attached(app, await app.open(await app.key()));
    client.say({ type: 'usage', ...fields });
    expect(await client.hear()).toMatchObject({ type: 'error', code: 'INVALID_REQUEST' });
  });
});

describe('a violation that a console caller is answered with over the socket', () => {
  /** A console session with a socket; `isLoggedIn` tells whether its login is still valid. */
  async function consoleSocket(env: Readonly<Record<string, string>> = {}) {
    const app = await build({ env });
    const email = somebody();
    const [cookie, other] = [await app.login(email), await app.login(email)];
    const reply = await app.post('/api/session', { tenantId: 'acme', agentId: 'support' }, { cookie });
    const id = String(reply.body['sm_session_id']);
    const isLoggedIn = async (one: string): Promise<boolean> =>
      (await app.get('/api/auth/session', { cookie: one })).status === 200;
    const logins = async (): Promise<boolean[]> => [await isLoggedIn(cookie), await isLoggedIn(other)];
    return { app, email, id, client: attached(app, id, email), logins };
  }

  it('destroys only the login that opened the session, when the day is used up', async () => {
    const { client, logins } = await consoleSocket({ CONSOLE_MAX_TOKENS_DAILY: '100' });
    client.say({ type: 'usage', tokens: 100, dollars: 0, id: 'a' });
    await expect.poll(() => client.heard().map(({ type }) => type)).toContain('usage');
    expect(await logins()).toEqual([true, true]);
    client.say({ type: 'usage', tokens: 1, dollars: 0, id: 'b' });
    await expect.poll(() => client.closeCode).toBe(4403);
    await expect.poll(logins).toEqual([false, true]);
  });

  it('destroys that login when a heartbeat finds that the session was idle for too long', async () => {
    const { app, client, logins } = await consoleSocket();
    app.clock.advance(301 * SECOND);
    client.say({ type: 'heartbeat' });
    await expect.poll(() => client.closeCode).toBe(4403);
    await expect.poll(logins).toEqual([false, true]);
  });

  it('destroys that login when a socket attaches to a session whose time is over', async () => {
    const { app, email, id, logins } = await consoleSocket({ MAX_SESSION_IDLE_SEC: '3000' });
    app.clock.advance(901 * SECOND);
    await app.sweep();
    expect(await logins()).toEqual([true, true]);
    const late = new ChannelClient(app);
    late.say({ type: 'attach', sm_session_id: id, email });
    await expect.poll(() => late.closeCode).toBe(4403);
    await expect.poll(logins).toEqual([false, true]);
  });

  it('does not exist when the client itself ends the session', async () => {
    const { client, logins } = await consoleSocket();
    client.say({ type: 'end' });
    await expect.poll(() => client.closeCode).toBe(4403);
    expect(await logins()).toEqual([true, true]);
  });
});

describe('a warning of the quota', () => {
  it('comes at 80 and at 95 percent, to every socket of the subject and to no other', async () => {
    const app = await build({ env: { WIDGET_MAX_TOKENS_DAILY: '100' } });
    const [key, email, stranger] = [await app.key(), somebody(), somebody()];
    const id = await app.open(key, { email });
    const client = attached(app, id, email);
    const tab = attached(app, await app.open(key, { email }), email);
    const other = attached(app, await app.open(key, { email: stranger }), stranger);
    const warnings: number[] = [];
    for (let tokens = 10; tokens <= 100; tokens += 5) {
      await app.post('/api/auth/usage', { sm_session_id: id, email, tokens: tokens === 10 ? 10 : 5, dollars: 0 });
      if (tab.heard().some(({ type }) => type === 'warning')) warnings.push(tokens);
    }
    expect(warnings).toEqual([80, 95]);
    expect(client.heard()).toEqual([
      { type: 'warning', reason: 'quota' },
      { type: 'warning', reason: 'quota' },
    ]);
    expect(other.heard()).toEqual([]);
  });
});
