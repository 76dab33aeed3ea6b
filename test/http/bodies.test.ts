import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseJsonObject } from '../../src/http/steps/body.ts';
import { somebody, type TestApp } from '../support/app.ts';
import { errorOf } from './app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, buildForFile } = useApps();

let app: TestApp;
beforeAll(async () => {
  app = await buildForFile();
});

const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

describe('A body', () => {
  test.each([
    ['is empty', ''],
    ['is not JSON', '{"email":'],
    ['has a trailing comma', '{"email":"a@example.com",}'],
    ['has two values', '{}{}'],
    ['is a list', '[]'],
    ['is a string', '"text"'],
    ['is null', 'null'],
    ['is a number', '1e999'],
    ['begins with a byte order mark', '\uFEFF{}'],
    ['is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['holds half a character', Buffer.from('{"email":"é"}').subarray(0, 11)],
    ['is nested 33 deep', nested(33)],
    ['is nested so deep that a careless parser falls over', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['holds a NUL', '{"email":"a@example.com","x":"\\u0000"}'],
    ['holds half of a surrogate pair', '{"email":"a@example.com","x":"\\ud800"}'],
    ['names a field with a NUL', '{"email":"a@example.com","\\u0000":1}'],
  ])('that %s is refused with 400 and details', async (_title, body) => {
    const mails = app.outbox.list();
    const reply = await app.post('/api/auth/otp/send', body);
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(reply.body['details']).toEqual(
      expect.arrayContaining([{ path: expect.any(String), message: expect.any(String) }]),
    );
    expect(app.outbox.list()).toEqual(mails);
  });

  test.each([
    ['is nested 32 deep', nested(32)],
    [
      'holds names in strings and braces in names',
      '{"a":"{\\"b\\":1,\\"b\\":2}","b\\"":1,"b":"\\\\","c":["b","b"],"{":{}}',
    ],
    ['has a field twice, of which the last counts', '{"a":1,"a":2}'],
    ['has one name in several objects', '{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}'],
    ['has white space before its colons', '{"a" :1,"b"\n\t: 2}'],
    ['holds escaped text', '{"a":"\\u00e9\\ud83d\\ude00"}'],
  ])('that %s is accepted', (_title, body) => {
    expect(parseJsonObject(Buffer.from(body))).toEqual(JSON.parse(body));
  });

  const longName = 'n'.repeat(30_000);
  test.each([
    [
      'many texts that cannot be stored',
      `{"${longName}":[${Array.from({ length: 3000 }, () => '"\\u0000"').join(',')}]}`,
    ],
    [
      'many names that cannot be stored',
      `{"${longName}":[${Array.from({ length: 2000 }, () => '{"\\u0000":1}').join(',')}]}`,
    ],
  ])('with %s gets a short answer, and a short line in the log', async (_title, body) => {
    const other = await build();
    const reply = await other.post('/api/auth/otp/send', body);
    expect(reply.status).toBe(400);
    expect(reply.text.length).toBeLessThan(8_000);
    expect(other.logged().length).toBeLessThan(2_000);
  });

  test.each([
    'email=ada@b.co&code=123456',
    '{"email":ada@b.co,"code":"123456"}',
    '{"code":123456a}',
    '{"code":"123456"',
  ])('that is not JSON is not quoted: %s', async (body) => {
    const other = await build();
    const reply = await other.post('/api/auth/otp/verify', body);
    expect(reply.status).toBe(400);
    expect(reply.text + other.logged()).not.toMatch(/ada|12345/);
  });

  test('of 64 KiB is read, and one byte more is 413', async () => {
    const body = (bytes: number): string => `{"email":"x","pad":"${'p'.repeat(bytes - 22)}"}`;
    expect(Buffer.byteLength(body(65_536))).toBe(65_536);
    expect(errorOf(await app.post('/api/auth/otp/send', body(65_536)))).toMatchObject({ status: 400 });
    const refused = await app.post('/api/auth/otp/send', body(65_537));
    expect(errorOf(refused)).toEqual({ status: 413, code: 'PAYLOAD_TOO_LARGE' });
  });

  test.each(['application/json', 'Application/JSON; charset=utf-8', 'application/json;charset="UTF-8"'])(
    'of the type %s is read',
    async (type) => {
      const reply = await app.post('/api/auth/otp/send', { email: somebody() }, { 'content-type': type });
      expect(reply.status).toBe(200);
    },
  );

  test.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonp',
    'text/json',
    'application/json, text/plain',
  ])('of the type "%s" is 415', async (type) => {
    const mails = app.outbox.list();
    const reply = await app.post('/api/auth/otp/send', { email: somebody() }, { 'content-type': type });
    expect(errorOf(reply)).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(app.outbox.list()).toEqual(mails);
  });

  test.each(['gzip', 'br', 'gzip, identity'])(
    'that is compressed (%s) is 415, and the reply says to send it uncompressed',
    async (encoding) => {
      const body = gzipSync(JSON.stringify({ email: somebody() }));
      const reply = await app.post('/api/auth/otp/send', body, { 'content-encoding': encoding });
      expect(errorOf(reply)).toEqual({ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
      expect(reply.body['error']).toContain('identity');
    },
  );

  test.each(['', 'identity', 'Identity'])('with the encoding "%s" is read', async (encoding) => {
    const reply = await app.post('/api/auth/otp/send', { email: somebody() }, { 'content-encoding': encoding });
    expect(reply.status).toBe(200);
  });
});

describe('A field', () => {
  const wrong: [path: string, body: object, field: string][] = [
    ['/api/session', { widgetKey: 1 }, 'widgetKey'],
    ['/api/session', { widgetKey: '' }, 'widgetKey'],
    ['/api/session', { widgetKey: 'w'.repeat(257) }, 'widgetKey'],
    ['/api/session', { widgetKey: null }, 'widgetKey'],
    ['/api/session', { model: ['gpt'] }, 'model'],
    ['/api/session', { voice: {} }, 'voice'],
    ['/api/session', { tenantId: true }, 'tenantId'],
    ['/api/session', { agentId: 'a'.repeat(129) }, 'agentId'],
    ['/api/session', { instructions: 'é'.repeat(16_385) }, 'instructions'],
    ['/api/session', { tools: {} }, 'tools'],
    ['/api/session', { tools: [{ kind: 'http_tool' }] }, 'tools.0.name'],
    ['/api/session', { tools: [{ kind: 'http_tool', name: 'no spaces' }] }, 'tools.0.name'],
    ['/api/session', { tools: [{ name: 'x' }] }, 'tools.0.kind'],
    ['/api/session', { tools: Array.from({ length: 129 }, () => ({ kind: 'k', name: 'n' })) }, 'tools'],
    ['/api/session', { email: 'nobody' }, 'email'],
    ['/api/realtime/heartbeat', {}, 'sm_session_id'],
    ['/api/realtime/heartbeat', { sm_session_id: 5 }, 'sm_session_id'],
    ['/api/realtime/heartbeat', { sm_session_id: 's'.repeat(129) }, 'sm_session_id'],
    ['/api/realtime/heartbeat', { sm_session_id: 's', idleSec: -1 }, 'idleSec'],
    ['/api/realtime/heartbeat', { sm_session_id: 's', idleSec: 1.5 }, 'idleSec'],
    ['/api/realtime/heartbeat', { sm_session_id: 's', idleSec: '5' }, 'idleSec'],
    ['/api/realtime/heartbeat', { sm_session_id: 's', idleSec: 1e300 }, 'idleSec'],
    ['/api/realtime/heartbeat', { sm_session_id: 's', email: ['a@example.com'] }, 'email'],
    ['/api/realtime/end', { email: 'a@example.com' }, 'sm_session_id'],
    ['/api/auth/otp/send', {}, 'email'],
    ['/api/auth/otp/send', { email: { $ne: null } }, 'email'],
    ['/api/auth/otp/send', { email: 'a@example.com,b@example.com' }, 'email'],
    ['/api/auth/otp/send', { email: 'a@example.com\r\nBcc: b@example.com' }, 'email'],
    ['/api/auth/otp/verify', { email: 'a@example.com', code: 123_456 }, 'code'],
    ['/api/auth/otp/verify', { email: 'a@example.com', code: '12345' }, 'code'],
    ['/api/auth/otp/verify', { email: 'a@example.com', code: '１２３４５６' }, 'code'],
    ['/api/auth/otp/verify', { email: 'a@example.com', code: '123456\n' }, 'code'],
    ['/api/auth/usage', { dollars: 0 }, 'tokens'],
    ['/api/auth/usage', { tokens: 1 }, 'dollars'],
    ['/api/auth/usage', { tokens: -1, dollars: 0 }, 'tokens'],
    ['/api/auth/usage', { tokens: 0.5, dollars: 0 }, 'tokens'],
    ['/api/auth/usage', { tokens: 1_000_000_001, dollars: 0 }, 'tokens'],
    ['/api/auth/usage', { tokens: '1', dollars: 0 }, 'tokens'],
    ['/api/auth/usage', { tokens: 0, dollars: -0.01 }, 'dollars'],
    ['/api/auth/usage', { tokens: 0, dollars: 100_000.01 }, 'dollars'],
    ['/api/auth/usage', { tokens: 0, dollars: '1' }, 'dollars'],
  ];

  test.each(wrong)('of %s that is wrong, as in %j, is named in the details: %s', async (path, body, field) => {
    const reply = await app.post(path, body);
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    const details = reply.body['details'] as readonly { readonly path: string }[];
    expect(new Set(details.map(({ path }) => path))).toEqual(new Set([field]));
    expect(reply.body['error']).toContain(field);
  });

  test('whose number is too large is refused, not rounded', async () => {
    for (const tokens of ['1e400', '9007199254740993', '-0.5e-400', '1000000000.5']) {
      const reply = await app.post('/api/auth/usage', `{"email":"a@example.com","tokens":${tokens},"dollars":0}`);
      expect([tokens, reply.status]).toEqual([tokens, tokens === '-0.5e-400' ? 401 : 400]);
    }
  });

  test('that the service does not know is ignored', async () => {
    expect((await app.post('/api/auth/otp/send', { email: somebody(), more: { deep: [1] } })).status).toBe(200);
  });

  test('called __proto__ or constructor has no effect', async () => {
    const key = await app.key({ allowOverrides: false });
    const evil = '{"allowOverrides":true,"email":"x@example.com","polluted":1}';
    const body = `{"widgetKey":"${key.key}","__proto__":${evil},"constructor":{"prototype":${evil}}}`;
    expect(
      (await app.send({ method: 'POST', path: '/api/session', body, headers: { origin: key.origin } })).status,
    ).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const tools = `[{"kind":"http_tool","name":"n","__proto__":${evil},"parameters":{"__proto__":${evil}}}]`;
    const open = await app.key();
    const withTools = `{"widgetKey":"${open.key}","tools":${tools}}`;
    const reply = await app.send({
      method: 'POST',
      path: '/api/session',
      body: withTools,
      headers: { origin: open.origin },
    });
    expect(reply.status).toBe(200);
    const tool = app.provider.requests.at(-1)?.tools[0];
    expect([Object.getPrototypeOf(tool), tool?.['polluted']]).toEqual([Object.prototype, undefined]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
