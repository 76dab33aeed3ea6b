import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProviderMode } from '../support/provider.ts';
import { TestTokenProvider } from '../support/token-provider.ts';
import { acme, siteKey, World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  const limits = { WIDGET_SESSION_PER_MIN: '1', WIDGET_MAX_CONCURRENT_SESSIONS: '1' };
  world = await World.start({ UPSTREAM_TIMEOUT_MS: '4000', ...limits }, acme);
});

afterAll(() => world.close());

/** One of each outcome; the others are tried in features/upstream. */
const cases: readonly [ProviderMode, number, string][] = [
  ['invalid key', 502, 'UPSTREAM_ERROR'],
  ['rate limited', 429, 'RATE_LIMIT_EXCEEDED'],
  ['garbage', 502, 'UPSTREAM_ERROR'],
  ['reset', 502, 'UPSTREAM_ERROR'],
  ['hang', 504, 'UPSTREAM_TIMEOUT'],
];

describe('A provider that fails', () => {
  test.each(cases)('(%s) costs the caller neither a slot nor a session of this minute', async (mode, status, code) => {
    // Each case has its own visitor, because a visitor may open one session a minute and one at a time.
    const create = { widgetKey: siteKey, agentId: 'support', email: `${mode.replaceAll(' ', '-')}@mail.example` };
    const minted = world.provider.requests.length;
    world.provider.mode = mode;
    const refused = await world.visitor().post('/api/session', create);
    expect(refused).toMatchObject({ status, body: { code } });
    const wait = status === 429 ? ['retryAfter'] : [];
    expect(Object.keys(refused.body).toSorted()).toEqual(['code', 'error', ...wait, 'userMessage']);
    expect(refused.text).not.toMatch(/ek_|sk-|req_/);
    expect(world.provider.requests).toHaveLength(minted + 1);

    world.provider.mode = 'ok';
    const opened = await world.visitor().post('/api/session', create);
    expect(opened.status, opened.text).toBe(200);
  });

  test('is reported to operators without its key, a secret, or any of its own text', async () => {
    expect(world.printed()).toContain('"dependency":"provider"');
    expect(world.printed()).not.toMatch(/ek_|Incorrect API key/);
    expect(world.leaks()).toEqual([]);
    const metrics = await world.backend().get('/metrics');
    for (const outcome of ['refused', 'malformed', 'unreachable', 'timeout', 'minted'])
      expect(metrics.text).toContain(`switchboard_mint_seconds_count{provider="openai",outcome="${outcome}"}`);
  });
});

describe('A provider that takes its time', () => {
  test('makes no other caller wait', async () => {
    world.provider.mode = 'hang';
    const slow = world
      .visitor()
      .post('/api/session', { widgetKey: siteKey, agentId: 'support', email: 'slow@mail.example' });
    const order: string[] = [];
    const told = slow.then(({ status }) => order.push(`create ${status}`));
    order.push(`health ${(await world.person().get('/healthz')).status}`);
    await told;
    expect(order).toEqual(['health 200', 'create 504']);
  });
});

describe('A provider whose calls only browsers open', () => {
  test.each([
    ['gemini', 'GEMINI_API_KEY'],
    ['assemblyai', 'ASSEMBLYAI_API_KEY'],
  ] as const)('(%s) is told how long a session may last, and returns the secret', async (name, keyName) => {
    const issuer = await TestTokenProvider.start(name);
    const settings = { UPSTREAM_PROVIDER: name, [keyName]: issuer.apiKey, UPSTREAM_BASE_URL: issuer.origin };
    const served = await World.start({ ...settings, MAX_SESSION_MINUTES: '5' }, acme);
    try {
      served.confidential.add(issuer.apiKey);
      const startedMs = Date.now();
      const opened = await served.visitor().post('/api/session', { widgetKey: siteKey, agentId: 'support' });
      expect(opened.status, opened.text).toBe(200);
      expect(opened.body).toMatchObject({ call: { mode: 'direct', url: null } });
      const { client_secret } = opened.body as { client_secret: { value: string } };
      expect(client_secret.value).toContain(issuer.tokens[0]);
      const [asked] = issuer.requests;
      const query = asked?.url.searchParams.get('max_session_duration_seconds');
      const { expireTime } = (asked?.body ?? {}) as { expireTime?: string };
      const endMs = expireTime === undefined ? startedMs + Number(query) * 1000 : Date.parse(expireTime);
      expect(endMs - startedMs).toBeGreaterThan(299_000);
      expect(endMs - Date.now()).toBeLessThan(301_000);
    } finally {
      await served.close();
      await issuer.close();
    }
  });
});
