import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/bots/contract.ts';
import { HttpDetector } from '../../../src/bots/detectors.ts';
import { TestVerdictServer } from '../../support/verdict-server.ts';
import type { VerdictMode } from '../../support/verdict-server.ts';

const evidence: Evidence = {
  ip: '203.0.113.7',
  headers: {
    'user-agent': 'curl/8.5.0',
    'x-bot-client-proof': 'proof',
    cookie: 'tenant_session=secret',
    authorization: 'Bearer secret',
  },
  path: '/api/session',
  method: 'POST',
  requestId: 'req_1',
};
let server: TestVerdictServer;

beforeEach(async () => {
  server = await TestVerdictServer.start();
});

afterEach(() => server.close());

describe('The verdict service', () => {
  test('receives the request’s data, with the headers of the client library and without credentials', async () => {
    await new HttpDetector({ url: server.url, token: 'token-1' }).assess(evidence);
    const [asked] = server.requests;
    expect(asked?.headers.authorization).toBe('Bearer token-1');
    expect(asked?.body).toEqual({
      requestId: 'req_1',
      ip: '203.0.113.7',
      method: 'POST',
      path: '/api/session',
      headers: { 'user-agent': 'curl/8.5.0', 'x-bot-client-proof': 'proof' },
    });
  });

  test('has the last word, whatever the User-Agent says', async () => {
    expect(await new HttpDetector({ url: server.url }).assess(evidence)).toEqual({
      isBot: false,
      isVerifiedBot: false,
      confidence: 0.99,
      provider: 'http',
    });
  });

  test('can verify a bot and say why', async () => {
    server.mode = { isBot: true, isVerifiedBot: true, confidence: 1, reason: 'signed request', extra: 1 };
    const verdict = await new HttpDetector({ url: server.url }).assess(evidence);
    expect(verdict).toEqual({
      isBot: true,
      isVerifiedBot: true,
      confidence: 1,
      provider: 'http',
      reason: 'signed request',
    });
  });

  test.each<[VerdictMode, RegExp]>([
    ['garbage', /no verdict/],
    [{ isBot: 'no' }, /no verdict/],
    [{ isBot: false, isVerifiedBot: false, confidence: 'high' }, /no verdict/],
    ['broken', /answered 500/],
    ['redirect', /answered 307/],
    ['huge', /too_large/],
    ['reset', /unreachable/],
    ['hang', /timeout/],
  ])('that fails (%j) is replaced by the heuristic, and the verdict says so', async (mode, why) => {
    server.mode = mode;
    // Only a service that hangs should time out: the others get enough time, however busy the machine is.
    const timeoutMs = mode === 'hang' ? 200 : 60_000;
    const verdict = await new HttpDetector({ url: server.url, timeoutMs }).assess(evidence);
    expect(verdict).toMatchObject({ isBot: true, isVerifiedBot: false, provider: 'heuristic', degraded: true });
    expect(verdict.reason).toMatch(why);
    expect(server.requests).toHaveLength(1);
  });

  test('that froze is given up with the default deadline', async () => {
    server.mode = 'hang';
    const verdict = await new HttpDetector({ url: server.url }).assess(evidence);
    expect(verdict.degraded).toBe(true);
  });

  test('that is away leaves an ordinary browser admitted', async () => {
    const detector = new HttpDetector({ url: server.url });
    await server.close();
    const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
    expect(await detector.assess({ ...evidence, headers })).toMatchObject({ isBot: false, degraded: true });
    server = await TestVerdictServer.start();
  });
});

test('A token that cannot be a header is refused at once and not shown', () => {
  expect(() => new HttpDetector({ url: 'http://localhost', token: 'secret\n' })).toThrow(/printable/);
});
