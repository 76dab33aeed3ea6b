import { WebSocket } from 'undici';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DemoServer } from '../support/demo-server.ts';
import { loadSdk, record, type Sdk, type Session } from './sdk.ts';

const widgetKey = 'w_demo_local_00000000000000000000000000000000';
/** A network that lets no socket open, whatever the Node version has. */
function NoSocket(): never {
  throw new Error('blocked');
}

const soon = { timeout: 10_000, interval: 20 };

describe('The widget SDK in a back end', () => {
  let server: DemoServer;
  let sdk: Sdk;

  beforeAll(async () => {
    [server, sdk] = await Promise.all([DemoServer.start(), loadSdk()]);
  });

  afterAll(() => server.close());

  function connect(more: Readonly<Record<string, unknown>> = {}): Promise<Session> {
    const baseUrl = server.direct;
    // Node's own socket sends no Origin and needs none.
    return sdk.connect({ baseUrl, widgetKey, agentId: 'guide', headers: { Origin: baseUrl }, WebSocket, ...more });
  }

  /** Does the request, and loses the first reply of the path on its way back. */
  function losing(path: string): {
    readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
    readonly calls: () => number;
  } {
    let calls = 0;
    return {
      calls: () => calls,
      async fetch(url, init) {
        const response = await fetch(url, init);
        if (!url.endsWith(path)) return response;
        calls += 1;
        if (calls > 1) return response;
        throw new TypeError('the reply was lost');
      },
    };
  }

  test('holds a session over a socket and ends it', async () => {
    const session = await connect();
    const events = record(session);
    await vi.waitFor(() => expect(events.filter(({ type }) => type === 'beat').length).toBeGreaterThan(2), soon);
    expect(session.transport).toBe('socket');
    await session.end();
    expect(session.state).toBe('ended');
    expect(events.at(-1)).toMatchObject({ type: 'ended', event: { reason: 'closed_by_client' } });
    expect(await server.session(session.id)).toMatchObject({ endReason: 'closed_by_client' });
  });

  test('holds a session over HTTP where there is no WebSocket', async () => {
    const session = await connect({ WebSocket: NoSocket });
    const events = record(session);
    await vi.waitFor(() => expect(events.filter(({ type }) => type === 'beat').length).toBeGreaterThan(1), soon);
    await session.end();
    expect(events.at(-1)).toMatchObject({ type: 'ended' });
  });

  test('creates one session although the reply was lost and the request repeated', async () => {
    const email = 'retry@demo.example';
    const wire = losing('/api/session');
    const session = await connect({ email, fetch: wire.fetch });
    expect(wire.calls()).toBe(2);
    const subject = session.id.split(':')[1];
    expect((await server.live()).filter(({ id }) => id.split(':')[1] === subject)).toHaveLength(1);
    await session.end();
  });

  test('has a report counted once although the reply was lost and the report repeated', async () => {
    const wire = losing('/api/auth/usage');
    const session = await connect({ email: 'usage@demo.example', fetch: wire.fetch, WebSocket: NoSocket });
    expect(await session.reportUsage({ tokens: 100, dollars: 0.1 + 0.2 })).toMatchObject({ tokens: 100, dollars: 0.3 });
    expect(wire.calls()).toBe(2);
    await session.end();
  });

  test.each([
    ['a socket', { WebSocket }],
    ['HTTP', { WebSocket: NoSocket }],
  ])('rejects the report that crosses the ceiling and ends, over %s', async (how, options) => {
    const session = await connect({ email: `quota-${how.length}@demo.example`, ...options });
    const events = record(session);
    await vi.waitFor(() => expect(events.some(({ type }) => type === 'beat')).toBe(true), soon);
    const report = session.reportUsage({ tokens: 300_001 });
    await expect(report).rejects.toMatchObject({ code: 'DAILY_QUOTA_EXCEEDED' });
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ event: { reason: 'quota_exceeded' } }), soon);
  });

  test('refuses a call when the provider is simulated, without calling anybody', async () => {
    const session = await connect();
    await expect(session.connectAudio()).rejects.toMatchObject({ code: 'SIMULATED_PROVIDER' });
    await session.end();
  });

  test('does not repeat a refused request, and says what the server said', async () => {
    const refused = sdk.connect({
      baseUrl: server.direct,
      widgetKey,
      headers: { Origin: 'https://elsewhere.example' },
    });
    await expect(refused).rejects.toMatchObject({
      code: 'ORIGIN_MISMATCH',
      status: 403,
      userMessage: 'This assistant is not available on this website.',
    });
  });

  test('takes an error that Switchboard did not write for a broken connection, and tries again', async () => {
    const answers = [Response.json(null, { status: 502 }), new Response('<h1>Bad gateway</h1>', { status: 502 })];
    const session = await connect({ fetch: (url: string, init: RequestInit) => answers.shift() ?? fetch(url, init) });
    expect(answers).toHaveLength(0);
    await session.end();
  });

  test('gives up creating a session when nobody answers', async () => {
    const nobody = sdk.connect({ baseUrl: 'http://127.0.0.1:9', widgetKey });
    await expect(nobody).rejects.toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
  });
});
