import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Challenge } from '../../src/protocol/challenge.ts';
import { UpstreamFault } from '../../src/upstream/contract.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { service, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { holdDeadlines } from '../support/deadlines.ts';
import {
  SiteverifyServer,
  type SiteverifyKind,
  type SiteverifyMode,
  type Solved,
} from '../support/siteverify-server.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

const { build } = useApps();

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
const program = { 'user-agent': 'curl/8.5.0' };
const HEADER = 'x-switchboard-challenge';

let provider: SiteverifyServer;
let app: TestApp;
let key: WidgetKey;

async function start(kind: SiteverifyKind, env: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  provider = await SiteverifyServer.start(kind);
  app = await another(kind, env);
  key = await app.key({ origin: 'https://shop.example:8443' });
  return app;
}

/** Another node on the same database. */
function another(kind: SiteverifyKind, env: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  return build({
    env: {
      BOT_PROVIDER: kind,
      BOT_SITE_KEY: provider.siteKey,
      BOT_SECRET: provider.secret,
      BOT_VERIFY_URL: provider.url,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
      ...env,
    },
  });
}

afterEach(async () => {
  expect(provider.wrongs).toEqual([]);
  expect(app.faults).toEqual([]);
  expect(app.logged()).not.toContain(provider.secret);
  expect(app.logged()).not.toContain('P1_token');
  await provider.close();
});

function challengeOf(reply: Reply): Challenge {
  expect(errorOf(reply)).toEqual({ status: 403, code: 'BOT_BLOCKED' });
  return reply.body['challenge'] as Challenge;
}

/** A challenge given to a program (which is suspect), solved as its page would solve it. */
async function solved(fields: Partial<Solved> = {}, of: WidgetKey = key): Promise<string> {
  const { data, action } = challengeOf(await app.create(of, {}, program));
  return provider.solve({
    hostname: 'shop.example',
    action,
    cdata: data,
    score: 0.9,
    atMs: app.clock.now(),
    ...fields,
  });
}

async function createWith(
  token: string,
  more: Readonly<Record<string, string>> = {},
  at: TestApp = app,
): Promise<Reply> {
  return at.create(key, {}, { ...program, [HEADER]: token, ...more });
}

describe('A challenge', () => {
  beforeEach(() => start('turnstile'));

  test('is asked only of suspects, and otherwise costs no request to the provider', async () => {
    expect((await app.create(key, {}, browser)).status).toBe(200);
    // A token that was not asked for is ignored.
    expect((await app.create(key, {}, { ...browser, [HEADER]: 'anything' })).status).toBe(200);
    expect(provider.asked).toEqual([]);
  });

  test('comes with the refusal of a program, and its solution opens a session', async () => {
    const refused = await app.create(key, {}, program);
    expect(challengeOf(refused)).toEqual({
      provider: 'turnstile',
      siteKey: 'site-key',
      action: 'voice_session',
      data: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(await whyRefused(app, refused)).toBe(
      'The caller was judged a bot (turnstile 0.95): no challenge was solved; its headers are those of a program (BOT_PROVIDER).',
    );
    expect((await createWith(await solved())).status).toBe(200);
    expect(provider.asked.map((asked) => asked.get('remoteip'))).toEqual(['198.51.100.7']);
    expect(app.logged()).toContain('"challenge":"solved"');
  });

  test('is counted for its key, and so is its outcome', async () => {
    await createWith(await solved());
    await app.create(key, {}, browser);
    await createWith('made up');
    await app.service.activityWriter.flush();
    const { body } = await app.get('/api/operator/keys?tenantId=acme', service);
    const keys = body['keys'] as readonly { readonly id: string }[];
    expect(keys.find(({ id }) => id === key.id)).toMatchObject({
      day: { started: 2, refused: 2, challenged: 1, solved: 1, blocked: 2 },
    });
  });

  test('is asked of everybody with BOT_CHALLENGE=always, except logins', async () => {
    const always = await another('turnstile', { BOT_CHALLENGE: 'always' });
    challengeOf(await always.create(key, {}, browser));
    const console = await always.as('somebody@acme.example');
    expect((await always.post('/api/session', { tenantId: 'acme' }, { ...console, ...browser })).status).toBe(200);
    expect(errorOf(await always.post('/api/session', { tenantId: 'acme' }, { ...console, ...program })).code).toBe(
      'BOT_BLOCKED',
    );
  });

  test('may be answered in the header of the provider’s own library, by a page or by its back end', async () => {
    const token = await solved();
    expect((await app.create(key, {}, { ...program, 'cf-turnstile-response': token })).status).toBe(200);
    const other = await solved();
    expect((await createWith(other, service)).status).toBe(200);
  });

  test.each([
    ['another host', { hostname: 'evil.example' }],
    ['no host', { hostname: undefined }],
    ['another action', { action: 'login' }],
    ['no action', { action: undefined }],
    ['other data', { cdata: 'A'.repeat(22) }],
    ['no data', { cdata: undefined }],
  ])('that was solved with %s counts for nothing', async (_, fields) => {
    const next = challengeOf(await createWith(await solved(fields)));
    expect(next.data).toMatch(/^[\w-]{22}$/);
  });

  test('that was solved for another key of the same site counts for nothing', async () => {
    const other = await app.key({ origin: key.origin });
    challengeOf(await createWith(await solved({}, other)));
  });

  test('stays valid for five minutes', async () => {
    const early = await solved();
    const late = await solved();
    app.clock.advance(5 * MINUTE);
    expect((await createWith(early)).status).toBe(200);
    app.clock.advance(SECOND);
    challengeOf(await createWith(late));
    // A solution's time is only the provider's word; data that was bound to a minute expires by itself as well.
    app.clock.advance(MINUTE);
    const old = challengeOf(await app.create(key, {}, program));
    app.clock.advance(6 * MINUTE);
    const bound = { hostname: 'shop.example', action: old.action, cdata: old.data, atMs: app.clock.now() };
    challengeOf(await createWith(provider.solve(bound)));
  });

  test('counts once, even on two nodes at the same time and if the provider accepts it twice', async () => {
    const token = await solved();
    const second = await another('turnstile');
    const said = {
      success: true,
      hostname: 'shop.example',
      action: 'voice_session',
      challenge_ts: new Date(app.clock.now()).toISOString(),
    };
    const cdata = challengeOf(await app.create(key, {}, program)).data;
    provider.mode = { status: 200, body: JSON.stringify({ ...said, cdata }) };
    const replies = await Promise.all([
      createWith(token),
      createWith(token, {}, second),
      createWith(token),
      createWith(token, {}, second),
    ]);
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403, 403]);
    const asked = provider.asked.length;
    challengeOf(await createWith(token, {}, second));
    // The provider is not asked about a token that is known to be used.
    expect(provider.asked).toHaveLength(asked);
  });

  test('counts again for the same create, even if that failed in between, and for no other', async () => {
    const token = await solved();
    const { answer } = app.provider;
    app.provider.answer = () => Promise.reject(new UpstreamFault('timeout', 'late'));
    const once = { 'idempotency-key': 'the-same-create-once-more' };
    expect(errorOf(await createWith(token, once)).code).toBe('UPSTREAM_TIMEOUT');
    app.provider.answer = answer;
    challengeOf(await createWith(token, { 'idempotency-key': 'another-create-of-its-own' }));
    const opened = await createWith(token, once);
    expect(opened.status).toBe(200);
    expect((await createWith(token, once)).body['sm_session_id']).toBe(opened.body['sm_session_id']);
    // A repeat whose reply is stored needs no token at all.
    expect((await app.create(key, {}, { ...program, ...once })).status).toBe(200);
  });

  test('is checked only after everything else that may refuse, and does not count in the minute', async () => {
    const strict = await app.key({ origin: key.origin, limits: { sessionsPerMinute: 1 } });
    const token = await solved({}, strict);
    await app.create(strict, {}, { ...program, origin: 'https://evil.example', [HEADER]: token });
    expect(provider.asked).toEqual([]);
    expect((await app.create(strict, {}, { ...program, [HEADER]: token })).status).toBe(200);
  });

  test.each(['x'.repeat(8193), 'two words', '<script>', 'a,b', '\u00fc', ''])(
    'is not solved by %j, which is not sent to the provider',
    async (token) => {
      challengeOf(await createWith(token));
      expect(provider.asked).toEqual([]);
    },
  );

  test('is not solved by an invented token', async () => {
    const reply = await createWith('made-up');
    challengeOf(reply);
    expect(await whyRefused(app, reply)).toContain('siteverify answered invalid-input-response');
  });

  test('cannot be skipped by sending more than may be verified at once', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, () => solved()));
    const always = await another('turnstile', { BOT_CHALLENGE: 'always' });
    provider.mode = 'hold';
    const replies = tokens.map((token) => createWith(token, browser, always));
    await provider.heard(4);
    // Requests of one address beyond the limit are refused while the others wait; they are not left to the heuristic.
    challengeOf(await Promise.any(replies));
    provider.release();
    expect((await Promise.all(replies)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 403, 403,
    ]);
  });
});

describe('A provider of challenges that does not answer', () => {
  const failures: readonly SiteverifyMode[] = [
    'reset',
    'html',
    'broken',
    'redirect',
    'huge',
    { status: 200, body: '{"success":"yes"}' },
    { status: 202, body: '{"success":true}' },
  ];
  const internal = { status: 200, body: '{"success":false,"error-codes":["internal-error"]}' };

  test.each<SiteverifyMode>([...failures, internal])(
    '(%j) leaves the decision to the heuristic, which admits no program',
    async (mode) => {
      await start('turnstile', { BOT_CHALLENGE: 'always' });
      provider.mode = mode;
      expect((await createWith('token', browser)).status).toBe(200);
      challengeOf(await createWith('token', program));
      challengeOf(await app.create(key, {}, browser));
      expect(app.logged()).toContain('"degraded":true');
      expect(app.logged()).toContain('"dependency":"bots"');
    },
  );

  test('within a second and a half counts as away', async () => {
    await start('turnstile', { BOT_CHALLENGE: 'always' });
    provider.mode = 'hold';
    const runOut = holdDeadlines(1500);
    const late = createWith('token', browser);
    await provider.heard(1);
    runOut();
    expect((await late).status).toBe(200);
    expect(app.logged()).toContain('siteverify timed_out');
  });

  test('admits nobody with BOT_WHEN_AWAY=block', async () => {
    await start('turnstile', { BOT_CHALLENGE: 'always', BOT_WHEN_AWAY: 'block' });
    provider.mode = 'broken';
    challengeOf(await createWith('token', browser));
  });

  test.each([400, 403, 413, 429])('but with %i, as a caller can cause, does not count as away', async (status) => {
    await start('turnstile', { BOT_CHALLENGE: 'always' });
    provider.mode = { status, body: '<html>' };
    challengeOf(await createWith('token', browser));
  });

  test('and a secret that it does not know are our fault, and are reported as such', async () => {
    await start('turnstile', { BOT_CHALLENGE: 'always', BOT_SECRET: 'a-wrong-secret-of-the-site' });
    expect((await createWith('token', browser)).status).toBe(200);
    challengeOf(await createWith('token', program));
    expect(app.logged()).toContain('"event":"bot.misconfigured"');
    expect(app.logged()).toContain('siteverify answered invalid-input-secret');
    expect(app.logged()).not.toContain('a-wrong-secret-of-the-site');
  });
});

describe('A challenge of hcaptcha', () => {
  beforeEach(() => start('hcaptcha'));

  test('counts for the host of its key', async () => {
    const bare = { action: undefined, cdata: undefined } as unknown as Partial<Solved>;
    for (const hostname of ['evil.example', undefined])
      challengeOf(await createWith(await solved({ ...bare, hostname })));
    expect((await app.create(key, {}, { ...program, 'h-captcha-response': await solved(bare) })).status).toBe(200);
  });

  test('of another site is wrong, and is not our fault', async () => {
    provider.mode = { status: 200, body: '{"success":false,"error-codes":["sitekey-secret-mismatch"]}' };
    challengeOf(await createWith('token'));
  });
});

describe('A challenge of recaptcha', () => {
  beforeEach(() => start('recaptcha', { BOT_MIN_SCORE: '0.7' }));

  test.each([
    [0.7, 200],
    [0.69, 403],
    [undefined, 403],
  ])('with the score %j is answered with %i', async (score, status) => {
    const token = await solved({ score, cdata: undefined });
    expect((await app.create(key, {}, { ...program, 'g-recaptcha-response': token })).status).toBe(status);
  });

  test('counts for its host and action', async () => {
    for (const fields of [
      { hostname: 'evil.example' },
      { hostname: undefined },
      { action: 'login' },
      { action: undefined },
    ])
      challengeOf(await createWith(await solved(fields)));
  });
});

test('A page may send the token of a challenge, whichever provider set it', async () => {
  await start('turnstile');
  const asked = { origin: key.origin, 'access-control-request-method': 'POST' };
  const preflight = (headers: object): Promise<Reply> =>
    app.send({ method: 'OPTIONS', path: '/api/session', headers: { ...asked, ...headers } });
  expect((await preflight({})).headers['access-control-allow-headers']).toContain('X-Switchboard-Challenge');
  const names = 'content-type,cf-turnstile-response,h-captcha-response,g-recaptcha-response,x-switchboard-challenge';
  const { headers } = await preflight({ 'access-control-request-headers': names });
  expect(headers['access-control-allow-headers']).toBe(names);
});
