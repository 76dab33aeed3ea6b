import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { ChannelClient } from '../channel/client.ts';
import { CONSOLE, somebody, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';
import { closedCall, exchange, fakeCalls } from './calls.ts';
import { changedAt } from '../support/key-change.ts';

const { build, database } = useApps();

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ provider: new FakeProvider({ call: 'brokered' }) });
  key = await app.key({ dataChannel: 'none' });
});

const refused = { status: 409, code: 'RESUME_REFUSED' };
const idOf = ({ body }: Reply): string => String(body['sm_session_id']);
const ticketOf = ({ body }: Reply): string => (body['client_secret'] as { readonly value: string }).value;

/** A page that attaches and receives the token with which the next page resumes. */
async function attach(id: string, by: TestApp = app, email?: string): Promise<{ page: ChannelClient; token: string }> {
  const page = new ChannelClient(by);
  page.say({ type: 'attach', sm_session_id: id, email, wants: ['call', 'what is to come'] });
  const frame = await page.hear();
  expect(frame).toMatchObject({ type: 'attached', resume: expect.stringMatching(/^rs_[A-Za-z0-9_-]{43}$/) });
  return { page, token: (frame as { resume: string }).resume };
}

const resume = (token: string, body: object = {}, headers: Readonly<Record<string, string>> = {}, by = app) =>
  by.create(key, { resume: token, ...body }, headers);

describe('A resume token', () => {
  test('resumes the same session on the next page, with a ticket of its own that opens a call', async () => {
    fakeCalls(app);
    const first = await app.create(key);
    const { token } = await attach(idOf(first));
    app.clock.advance(3 * SECOND);
    const next = await resume(token);
    expect(next.status).toBe(200);
    expect(next.body).toEqual({
      ...first.body,
      client_secret: { value: expect.stringMatching(/^ek_sb_/), expires_at: Math.floor(app.clock.now() / 1000) + 60 },
      resumed: true,
    });
    expect(first.body).not.toHaveProperty('resumed');
    expect(next.body['call']).toMatchObject({ mode: 'brokered', dataChannel: 'none' });
    expect(ticketOf(next)).not.toBe(ticketOf(first));
    expect((await exchange(app, { ticket: ticketOf(next), origin: key.origin })).status).toBe(201);
  });

  test('works once, and a page that tries it again opens nothing', async () => {
    const { token } = await attach(await app.open(key));
    expect((await resume(token)).status).toBe(200);
    const before = await rows();
    expect(errorOf(await resume(token))).toEqual(refused);
    expect(await rows()).toEqual(before);
  });

  test('works for one of many pages that try at once', async () => {
    const { token } = await attach(await app.open(key));
    const replies = await Promise.all(Array.from({ length: 20 }, () => resume(token)));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 409),
    ]);
  });

  test('returns the same reply under its Idempotency-Key, for a page whose reply was lost', async () => {
    const { token } = await attach(await app.open(key));
    const headers = { 'idempotency-key': 'k'.repeat(20) };
    const [first, again] = [await resume(token, {}, headers), await resume(token, {}, headers)];
    expect(again.body).toEqual(first.body);
    expect(errorOf(await resume(token, {}, { 'idempotency-key': 'l'.repeat(20) }))).toEqual(refused);
  });

  test('closes the former page’s socket with 4408, and not the new one’s', async () => {
    const id = await app.open(key);
    const { page, token } = await attach(id);
    app.clock.advance(SECOND);
    await resume(token);
    expect(page.closeCode).toBe(4408);
    app.clock.advance(1);
    const next = await attach(id);
    expect(next.page.closeCode).toBeUndefined();
    expect((await resume(next.token)).status).toBe(200);
  });

  test('is replaced by the one of the next attach', async () => {
    const id = await app.open(key);
    const [before, after] = [await attach(id), await attach(id)];
    expect(errorOf(await resume(before.token))).toEqual(refused);
    expect((await resume(after.token)).status).toBe(200);
  });

  test('counts in no window and no total, takes no slot, and does not change when the session began', async () => {
    const narrow = { sessionsPerMinute: 1, concurrentSessions: 1 };
    key = await app.key({ limits: narrow, totals: narrow });
    const id = await app.open(key);
    for (let pages = 0; pages < 5; pages += 1) {
      app.clock.advance(SECOND);
      const { token } = await attach(id);
      expect((await resume(token)).status).toBe(200);
    }
    const record = await app.sessions.find(id);
    expect(record).toMatchObject({ startedAtMs: app.clock.now() - 5 * SECOND });
    expect((await app.create(key)).status).toBe(429);
  });

  test('works for sessions of a paused key, which go on, and not for those of a revoked one', async () => {
    const id = await app.open(key);
    const { token } = await attach(id);
    await app.service.stores.tenants.pause(key.tenantId, key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect((await resume(token)).status).toBe(200);
    const next = await attach(id);
    await app.service.stores.tenants.revoke(key.tenantId, key.id, changedAt(app.clock.now()));
    await app.service.directory.reload();
    expect(errorOf(await resume(next.token))).toEqual({ status: 401, code: 'INVALID_WIDGET_KEY' });
  });

  test('is valid until two minutes after the last heartbeat', async () => {
    const id = await app.open(key);
    const { token } = await attach(id);
    app.clock.advance(60 * SECOND);
    await app.sessions.heartbeat(id, app.clock.now(), undefined, () => true);
    app.clock.advance(120 * SECOND + 1);
    expect(errorOf(await resume(token))).toEqual(refused);
    app.clock.advance(-1);
    expect((await resume(token)).status).toBe(200);
  });

  test('is valid until two minutes after the last page load, even if no page stays long enough for a heartbeat', async () => {
    const id = await app.open(key);
    for (let pages = 0; pages < 5; pages += 1) {
      const { token } = await attach(id);
      app.clock.advance(40 * SECOND);
      expect((await resume(token)).status).toBe(200);
    }
    // A page load is no activity: the session goes idle as if nobody had come.
    expect(await app.sessions.find(id)).toMatchObject({ lastSeenAtMs: app.clock.now() });
    const { token } = await attach(id);
    app.clock.advance(101 * SECOND);
    expect(errorOf(await resume(token))).toEqual(refused);
  });

  test('is invalid for a session that is over or idle', async () => {
    const [ended, idle] = [await app.open(key), await app.open(key)];
    const tokens = [(await attach(ended)).token, (await attach(idle)).token];
    await app.sessions.end(ended, 'closed_by_client', app.clock.now());
    app.clock.advance(5 * MINUTE + SECOND);
    for (const token of tokens) expect(errorOf(await resume(token))).toEqual(refused);
  });

  test('is refused if the session ends or is forgotten while it is used, and then leaves no ticket', async () => {
    for (const meanwhile of ['ended', 'forgotten']) {
      const id = await app.open(key);
      const { page, token } = await attach(id);
      const { resumeTokens } = app.service.stores;
      const spend = resumeTokens.spend.bind(resumeTokens);
      vi.spyOn(resumeTokens, 'spend').mockImplementationOnce(async (...spent) => {
        if (meanwhile === 'ended') await app.sessions.end(id, 'closed_by_operator', app.clock.now());
        else vi.spyOn(app.sessions, 'heartbeat').mockReturnValueOnce(undefined);
        return spend(...spent);
      });
      expect(errorOf(await resume(token)), meanwhile).toEqual(refused);
      expect(page.closeCode, meanwhile).not.toBe(4408);
      const tickets = await database().run((sql) => sql`select from call_ticket where session_id = ${id}`);
      // The ticket that came with the create.
      expect(tickets, meanwhile).toHaveLength(1);
    }
  });

  test('works only for its own key, origin and user, and stays valid if another tries it', async () => {
    const email = somebody();
    const id = await app.open(key, { email });
    const { token } = await attach(id, app, email);
    const others = [await app.key(), await app.key({ tenantId: 'globex' }), await app.key({ origin: key.origin })];
    for (const other of others) expect(errorOf(await app.create(other, { resume: token, email }))).toEqual(refused);
    for (const body of [{}, { email: somebody() }]) expect(errorOf(await resume(token, body))).toEqual(refused);
    for (const origin of ['https://evil.example', 'null'])
      expect(errorOf(await resume(token, { email }, { origin }))).toEqual({ status: 403, code: 'ORIGIN_MISMATCH' });
    const cookie = await app.login(email);
    const asConsole = await app.post('/api/session', { tenantId: 'acme', resume: token }, { cookie, origin: CONSOLE });
    expect(errorOf(asConsole)).toEqual(refused);
    expect((await resume(token, { email })).status).toBe(200);
  });

  test('also resumes a session of the console, for the same user', async () => {
    const [headers, others] = [await app.as(somebody()), await app.as(somebody())];
    const first = await app.post('/api/session', { tenantId: 'acme' }, headers);
    const record = await app.sessions.find(idOf(first));
    const address = (await app.get('/api/auth/session', headers)).body['email'];
    const { token } = await attach(record?.id ?? '', app, String(address));
    const body = { tenantId: 'acme', resume: token };
    expect(errorOf(await app.post('/api/session', body, others))).toEqual(refused);
    const next = await app.post('/api/session', body, headers);
    expect(next.body).toMatchObject({ sm_session_id: idOf(first), resumed: true });
  });

  test.each(['', 'rs_', `rs_${'A'.repeat(43)}`, 'ek_sb_AAAA', 'x'.repeat(129), "rs_' or 1=1 --"])(
    'that was guessed (%s) opens nothing',
    async (guess) => {
      await attach(await app.open(key));
      const before = await rows();
      expect([400, 409]).toContain((await resume(guess)).status);
      expect(await rows()).toEqual(before);
    },
  );

  test('is not spent by a refusal or a fault before the session was found', async () => {
    const { token } = await attach(await app.open(key));
    vi.spyOn(app.service.stores.sessionSetups, 'find').mockRejectedValueOnce(new Error('a defect'));
    expect(errorOf(await resume(token))).toEqual({ status: 500, code: 'INTERNAL_ERROR' });
    expect((await resume(token)).status).toBe(200);
  });

  test('is given back if the reply cannot be made', async () => {
    const { token } = await attach(await app.open(key));
    vi.spyOn(app.live.bus, 'publish').mockImplementationOnce(() => {
      throw new Error('a defect');
    });
    expect(errorOf(await resume(token))).toEqual({ status: 500, code: 'INTERNAL_ERROR' });
    expect((await resume(token)).status).toBe(200);
  });

  test('is refused once the session has had all its calls', async () => {
    const limited = await build({ provider: new FakeProvider({ call: 'brokered' }), env: { CALLS_PER_SESSION: '1' } });
    key = await limited.key();
    const id = await limited.open(key);
    const { token } = await attach(id, limited);
    await limited.service.stores.calls.insert(closedCall(id), 1);
    expect(errorOf(await resume(token, {}, {}, limited))).toEqual(refused);
  });

  test('is known only to the page: no log, journal or database contains it', async () => {
    const id = await app.open(key);
    const { token } = await attach(id);
    await resume(token);
    await resume(token);
    await app.service.journalWriter.flush();
    const dump = await database().run(
      (sql) => sql`
      select query_to_xml('select * from ' || quote_ident(table_name), true, false, '')::text as rows
      from information_schema.tables where table_schema = 'public'`,
    );
    expect(JSON.stringify(dump)).toContain(id);
    expect(JSON.stringify(dump)).not.toContain(token.slice(3));
    expect(app.logged()).not.toContain(token.slice(3));
  });
});

describe('No resume token', () => {
  test('is given to sockets that do not want the call, nor for sessions whose pages open calls themselves', async () => {
    const silent = new ChannelClient(app);
    silent.say({ type: 'attach', sm_session_id: await app.open(key) });
    expect(await silent.hear()).not.toHaveProperty('resume');
    const direct = await build();
    const page = new ChannelClient(direct);
    page.say({ type: 'attach', sm_session_id: await direct.open(await direct.key()), wants: ['call'] });
    const frame = await page.hear();
    expect(frame.type).toBe('attached');
    expect(frame).not.toHaveProperty('resume');
  });

  test('is given while the database is away, and the socket is attached all the same', async () => {
    const id = await app.open(key);
    const page = new ChannelClient(app);
    database().isAway = true;
    page.say({ type: 'attach', sm_session_id: id, wants: ['call'] });
    const frame = await page.hear();
    expect(frame.type).toBe('attached');
    expect(frame).not.toHaveProperty('resume');
  });

  test.each([[['call', 7]], ['call'], [Array.from({ length: 9 }, () => 'x')]])(
    'is given for invalid `wants`: %j',
    async (wants) => {
      const page = new ChannelClient(app);
      page.say({ type: 'attach', sm_session_id: await app.open(key), wants });
      expect(await page.hear()).toMatchObject({ type: 'error', code: 'INVALID_REQUEST' });
    },
  );
});

/** Counts of the rows that a create adds. */
async function rows(): Promise<unknown> {
  return database().run(
    (sql) => sql`
    select (select count(*) from voice_session)::int as sessions, (select count(*) from call_ticket)::int as tickets`,
  );
}
