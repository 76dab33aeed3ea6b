import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { CONSOLE, SERVICE_TOKEN, type Reply, type Request, type TestApp } from '../support/app.ts';
import { HOUR, MINUTE, SECOND } from '../support/clock.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';
import { exchange, fakeCalls, openedBy } from './calls.ts';

/**
 * Replies of the whole API as clients received them, over one story that is told twice: a change inside the service must leave them as they
 * are. To change a reply on purpose, run `npx vitest run test/http/golden.test.ts -u` and read what changed.
 */

const { build } = useApps();

const service = { authorization: `Bearer ${SERVICE_TOKEN}` };

/** Headers that say nothing about a reply's meaning, or on which clients do not rely. */
const LEFT_OUT = new Set(['x-request-id', 'etag', 'content-length']);
/** Fields that depend on this process and this machine. */
const OF_THE_MACHINE = new Set([
  'pid',
  'rss',
  'host',
  'node',
  'version',
  'configHash',
  'loopP99Ms',
  'latencyMs',
  'ms',
  'addressHash',
]);
/** Fields that depend on the installation's key. */
const RANDOM = new Set(['emailHash', 'subject']);
/** Positions in lists, which only the service itself reads. */
const OPAQUE = new Set(['nextCursor', 'cursor']);

/** Gives random values names, in the order in which they first appear in a story's replies. */
class Names {
  readonly #names = new Map<string, string>();

  in(text: string): string {
    return (
      text
        .replaceAll(
          /(?:req|call|auth|otp|batch|sess|ek_sb)_[\w-]{9,}|s:[0-9a-f]{32}(?::[\w-]+)?|w_[a-z]+_[\w-]+_[0-9a-f]{32}|\b[0-9a-f]{32}\b/g,
          (id) => this.of(id),
        )
        .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, (token) => this.of(token))
        // The first characters of an id.
        .replaceAll(/\b[0-9a-f]{4}…/g, '<ref>…')
    );
  }

  of(id: string): string {
    const [kind = ''] = /^(?:req|call|auth|otp|batch|sess|ek|w)_|^s:/.exec(id) ?? [];
    const known = this.#names.get(id) ?? `<${kind}${this.#names.size + 1}>`;
    this.#names.set(id, known);
    return known;
  }
}

/** What one reply says, without what differs between runs. */
function describeReply({ status, headers, text, body }: Reply, names: Names): object {
  const plain = JSON.stringify(body, (name, value: unknown) => {
    if (OF_THE_MACHINE.has(name) && value !== null) return `<${name}>`;
    if (OPAQUE.has(name) && value !== null) return '<opaque>';
    // Thousands of coordinates, in which nobody could read a difference.
    if (name === 'charts') return `<drawing ${createHash('sha256').update(JSON.stringify(value)).digest('hex')}>`;
    // Events of machines are numbered over everything that was stored.
    if (name === 'id' && typeof value === 'string' && /^\d+$/.test(value)) return '<ordinal>';
    if (typeof value === 'string' && (RANDOM.has(name) || (name === 'id' && /^[\w-]{22}$/.test(value))))
      return names.of(value);
    return value;
  });
  const isJson = headers['content-type']?.includes('json') === true;
  const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.has(name));
  return {
    status,
    headers: JSON.parse(
      names.in(JSON.stringify(Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1))))),
    ) as object,
    ...(isJson
      ? { body: JSON.parse(names.in(plain)) as object }
      : { text: text.length > 2000 ? '<a page>' : names.in(text) }),
  };
}

/** Tells a story to a service and keeps its replies. */
class Story {
  readonly replies: Record<string, object> = {};
  readonly #names = new Names();
  readonly #app: TestApp;

  constructor(app: TestApp) {
    this.#app = app;
  }

  async send(title: string, request: Request): Promise<Reply> {
    // No two things happen at the same time, so that the order of lists is certain.
    this.#app.clock.advance(SECOND);
    const reply = await this.#app.send(request);
    this.note(title, reply);
    return reply;
  }

  note(title: string, reply: Reply): void {
    if (title in this.replies) throw new Error(`told twice: ${title}`);
    this.replies[title] = describeReply(reply, this.#names);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}, title = path): Promise<Reply> {
    return this.send(`GET ${title}`, { path, headers });
  }

  post(title: string, path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.send(title, { method: 'POST', path, body, headers });
  }
}

/** Writes everything that the service writes behind the answer. */
async function settle({
  service: { journalWriter, activityWriter, sessionNotes, presence },
  sessions,
}: TestApp): Promise<void> {
  sessionNotes.tick();
  await sessions.recovery.writer.flush();
  await journalWriter.flush();
  await activityWriter.flush();
  await presence.beat();
  await presence.write();
}

function codeFor(app: TestApp, email: string): string {
  const mail = app.outbox.list().find(({ to }) => to === email);
  return /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
}

const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('The replies of the API are those that clients know', async () => {
  const app = await build({
    provider: new FakeProvider({ call: 'brokered' }),
    env: {
      OPERATOR_EMAILS: 'ops@example.com',
      VIEWER_EMAILS: 'vera@example.com',
      CONSOLE_EMAILS: '@example.com,boss@globex.example',
    },
  });
  const story = new Story(app);
  const key = await app.key({
    id: 'golden',
    key: `w_acme_golden_${'0'.repeat(32)}`,
    origin: 'https://golden.example',
    limits: { concurrentSessions: 5 },
  });
  const free = await app.key({
    id: 'direct',
    tenantId: 'globex',
    key: `w_globex_direct_${'0'.repeat(32)}`,
    origin: 'https://direct.example',
  });
  const page = { origin: key.origin };

  // What a page asks.
  const created = await story.post(
    'create a session',
    '/api/session',
    { widgetKey: key.key, agentId: 'support', voice: 'cedar', metadata: { page: 'pricing' } },
    page,
  );
  const id = String(created.body['sm_session_id']);
  const ref = id.slice(0, 42);
  const other = await story.post('create another', '/api/session', { widgetKey: key.key }, page);
  const others = String(other.body['sm_session_id']);
  await story.post(
    'create from a strange origin',
    '/api/session',
    { widgetKey: key.key },
    { origin: 'https://evil.example' },
  );
  await story.post('create with an unknown key', '/api/session', { widgetKey: 'w_none' }, page);
  await story.post('create with an unknown agent', '/api/session', { widgetKey: key.key, agentId: 'nobody' }, page);
  await story.post(
    'create with a field that is none',
    '/api/session',
    { widgetKey: key.key, agentID: 'support' },
    page,
  );
  await story.post('create with a body that is no JSON', '/api/session', '{', page);
  await story.post(
    'create as a bot',
    '/api/session',
    { widgetKey: key.key },
    { ...page, 'user-agent': 'Googlebot/2.1' },
  );
  await story.post('create one too many', '/api/session', { widgetKey: key.key }, page);
  await story.post(
    'create with an idempotency key',
    '/api/session',
    { widgetKey: free.key },
    { origin: free.origin, 'idempotency-key': 'one-of-the-story' },
  );
  await story.post(
    'create with the same idempotency key',
    '/api/session',
    { widgetKey: free.key },
    { origin: free.origin, 'idempotency-key': 'one-of-the-story' },
  );
  fakeCalls(app);
  story.note('exchange an offer', await exchange(app, openedBy(created, key.origin)));
  story.note('exchange a ticket twice', await exchange(app, openedBy(created, key.origin)));
  await story.post('another ticket', '/api/realtime/ticket', { sm_session_id: id }, page);
  app.clock.advance(30 * SECOND);
  await story.post('heartbeat', '/api/realtime/heartbeat', { sm_session_id: id, idleSec: 0 }, page);
  await story.post('heartbeat of nobody', '/api/realtime/heartbeat', { sm_session_id: 's:none', idleSec: 0 }, page);
  await story.post(
    'heartbeat with a bad idle time',
    '/api/realtime/heartbeat',
    { sm_session_id: id, idleSec: -1 },
    page,
  );
  const report = { sm_session_id: others, reportId: 'golden-1', tokens: 1200, dollars: 0.02 };
  await story.post('report usage', '/api/auth/usage', report, page);
  await story.post('report usage again', '/api/auth/usage', report, page);
  app.clock.advance(9 * MINUTE);
  await app.sweep();
  await story.post(
    'heartbeat of a session that fell asleep',
    '/api/realtime/heartbeat',
    { sm_session_id: others, idleSec: 540 },
    page,
  );
  await story.post('end a session', '/api/realtime/end', { sm_session_id: id }, page);
  await story.post('end it again', '/api/realtime/end', { sm_session_id: id }, page);
  await story.post('heartbeat after the end', '/api/realtime/heartbeat', { sm_session_id: id, idleSec: 0 }, page);
  await story.post('a path that is none', '/api/nothing', {}, page);
  await story.send('a method that is none', { method: 'DELETE', path: '/api/session', headers: page });
  await story.send('a preflight', {
    method: 'OPTIONS',
    path: '/api/realtime/heartbeat',
    headers: { ...page, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  });
  await story.get('/api/realtime/ws', page, 'the socket without an upgrade');

  // What logins ask.
  const email = 'ops@example.com';
  const here = { origin: CONSOLE };
  await story.post('send a code', '/api/auth/otp/send', { email }, here);
  await story.post('send a code to nobody', '/api/auth/otp/send', { email: 'nobody@elsewhere.example' }, here);
  const code = codeFor(app, email);
  await story.post('a wrong code', '/api/auth/otp/verify', { email, code: wrong(code) }, here);
  const verified = await story.post('the right code', '/api/auth/otp/verify', { email, code }, here);
  const cookie = verified.cookies.map((one) => one.split(';', 1)[0]).join('; ');
  const operator = { ...here, cookie };
  await story.get('/api/auth/session', operator);
  await story.get('/api/auth/session', {}, '/api/auth/session of nobody');
  await story.get('/api/auth/usage', operator);
  await story.get('/api/auth/logins', operator);
  await story.post('a session of the console', '/api/session', { tenantId: 'acme', agentId: 'sales' }, operator);

  // What operators ask.
  await settle(app);
  const issued = await story.post(
    'issue a key',
    '/api/operator/keys',
    { tenantId: 'acme', id: 'shop', origin: 'https://shop.example', reason: 'a new shop', totals: { dollarsDaily: 5 } },
    service,
  );
  expect(issued.status).toBe(201);
  await story.post(
    'issue it again',
    '/api/operator/keys',
    { tenantId: 'acme', id: 'shop', origin: 'https://shop.example' },
    service,
  );
  await story.post(
    'pause the key',
    '/api/operator/keys/shop/pause',
    { tenantId: 'acme', reason: 'closed on Sunday' },
    service,
  );
  await story.post('resume the key', '/api/operator/keys/shop/resume', { tenantId: 'acme' }, service);
  await story.post('revoke the key', '/api/operator/keys/shop/revoke', { tenantId: 'acme' }, service);
  await story.post('revoke a key that is none', '/api/operator/keys/none/revoke', { tenantId: 'acme' }, service);
  await story.post(
    'end as an operator',
    `/api/operator/sessions/${encodeURIComponent(others.slice(0, 42))}/end`,
    { reason: 'asked for' },
    operator,
  );
  const many = { filter: { tenantId: 'globex' }, reason: 'a test' };
  await story.post('count many', '/api/operator/sessions/end', { ...many, dryRun: true }, service);
  await story.post('end many', '/api/operator/sessions/end', { ...many, expected: 1 }, service);
  await story.post(
    'end many in a batch that is none',
    '/api/operator/sessions/end',
    { filter: { tenantId: 'globex' }, batchId: 'golden' },
    service,
  );
  await story.post('end many of everybody', '/api/operator/sessions/end', { filter: {} }, service);
  await story.post(
    'lift an address',
    '/api/operator/addresses/lift',
    { email: 'ada@example.com', reason: 'she called' },
    service,
  );
  await settle(app);

  const vera = { cookie: await app.login('vera@example.com'), origin: CONSOLE };
  app.clock.advance(SECOND);
  const boss = { cookie: await app.login('boss@globex.example'), origin: CONSOLE };
  const one = encodeURIComponent(ref);
  const lists = [
    '/api/operator/me',
    '/api/operator/overview',
    '/api/operator/sessions',
    '/api/operator/sessions?limit=1',
    '/api/operator/sessions?state=ended&sort=-endedAt',
    `/api/operator/sessions/${one}`,
    `/api/operator/sessions/${one}/events`,
    `/api/operator/sessions/${one}/events?limit=2`,
    `/api/operator/sessions/${encodeURIComponent(others.slice(0, 42))}`,
    '/api/operator/usage',
    '/api/operator/refusals',
    '/api/operator/refusals?limit=2',
    '/api/operator/refusals?code=RATE_LIMIT_EXCEEDED',
    '/api/operator/refusals?cursor=nonsense',
    '/api/operator/nodes',
    '/api/operator/audit',
    '/api/operator/audit?limit=2',
    '/api/operator/audit?action=key.revoke',
    '/api/operator/audit?cursor=nonsense',
    '/api/operator/keys',
    '/api/operator/logins',
    '/api/operator/challenges',
    '/api/operator/changes',
  ];
  // Ids get names in the order of the replies: an operator's replies come first, and the other two show the same things by the same names.
  const eyes = { 'a service': service, 'a viewer': vera, 'the admin of globex': boss };
  for (const [name, headers] of Object.entries(eyes))
    for (const path of lists)
      await story.get(
        path,
        headers,
        `${path.replaceAll(one, '{id}').replace(encodeURIComponent(others.slice(0, 42)), '{other}')} as ${name}`,
      );
  for (const [name, headers] of Object.entries(eyes))
    for (const [what, q] of Object.entries({ 'a key': 'shop', 'a session': ref, 'an address': 'ops@example.com' }))
      await story.post(`search for ${what} as ${name}`, '/api/operator/search', { q }, { ...here, ...headers });
  await story.get('/api/operator/sessions', {}, '/api/operator/sessions of nobody');
  await story.get('/api/operator/machines', service);
  const refused = await story.get('/api/operator/refusals?limit=1', service, 'the newest refusal');
  const [newest] = refused.body['refusals'] as readonly { readonly requestId: string }[];
  for (const [name, headers] of Object.entries(eyes))
    await story.get(
      `/api/operator/refusals?requestId=${newest?.requestId}`,
      headers,
      `a refusal by its request as ${name}`,
    );

  // Reading page by page finds the same rows as a single large page.
  for (const path of [
    '/api/operator/refusals',
    '/api/operator/audit',
    `/api/operator/sessions/${one}/events`,
    '/api/operator/sessions',
  ]) {
    let cursor: string | null = '';
    for (let n = 1; cursor !== null; n += 1) {
      const query = cursor === '' ? '?limit=3' : `?limit=3&cursor=${cursor}`;
      const { body } = await story.get(path + query, service, `page ${n} of ${path.replace(one, '{id}')}`);
      cursor = body['nextCursor'] as string | null;
    }
  }

  app.clock.advance(HOUR);
  await app.sweep();
  await settle(app);
  await story.get('/api/operator/overview', service, 'the overview an hour later');
  await story.get(`/api/operator/sessions?state=ended`, service, 'sessions an hour later');
  await story.post('log out', '/api/auth/logout', {}, operator);
  await story.get('/api/operator/me', operator, '/api/operator/me after the logout');
  await story.get('/healthz');
  await story.get('/readyz');
  await story.get('/demo/config.json');
  await story.get('/demo/machines.json');

  await expect(`${JSON.stringify(story.replies, null, 1)}\n`).toMatchFileSnapshot('golden/replies.txt');
});
