import { WebSocket } from 'undici';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DemoServer } from '../support/demo-server.ts';
import { soon } from '../support/soon.ts';
import { loadSdk, record, type Sdk, type Session } from './sdk.ts';

const widgetKey = 'w_demo_local_00000000000000000000000000000000';
/** A network on which no socket opens, whatever the Node version offers. */
function NoSocket(): never {
  throw new Error('blocked');
}

describe('The widget SDK in a back end', () => {
  let server: DemoServer;
  let sdk: Sdk;

  beforeAll(async () => {
    [server, sdk] = await Promise.all([DemoServer.start(), loadSdk()]);
  });

  afterAll(() => server.close());

  function connect(more: Readonly<Record<string, unknown>> = {}): Promise<Session> {
    const baseUrl = server.direct;
    // Sockets of Node send no Origin and need none.
    return sdk.connect({ baseUrl, widgetKey, agentId: 'guide', headers: { Origin: baseUrl }, WebSocket, ...more });
  }

  /** Sends each request, but loses the first reply of the path on its way back. */
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

  test('holds a session over HTTP if there is no WebSocket', async () => {
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

  test('reports usage once although the reply was lost and the report repeated', async () => {
    const wire = losing('/api/auth/usage');
    const session = await connect({ email: 'usage@demo.example', fetch: wire.fetch, WebSocket: NoSocket });
    expect(await session.reportUsage({ tokens: 100, dollars: 0.1 + 0.2 })).toMatchObject({ tokens: 100, dollars: 0.3 });
    expect(wire.calls()).toBe(2);
    await session.end();
  });

  test.each([
    ['a socket', { WebSocket }],
    ['HTTP', { WebSocket: NoSocket }],
  ])('rejects the report that crosses the ceiling, and ends, over %s', async (how, options) => {
    const session = await connect({ email: `quota-${how.length}@demo.example`, ...options });
    const events = record(session);
    await vi.waitFor(() => expect(events.some(({ type }) => type === 'beat')).toBe(true), soon);
    const report = session.reportUsage({ tokens: 300_001 }).catch((error: unknown) => [error, session.state]);
    expect(await report).toMatchObject([{ code: 'DAILY_QUOTA_EXCEEDED' }, 'ended']);
    expect(events.at(-1)).toMatchObject({ event: { reason: 'quota_exceeded', code: 'SESSION_DURATION_EXCEEDED' } });
  });

  test('refuses a call, without any request, if the provider is simulated', async () => {
    const session = await connect();
    await expect(session.connectAudio()).rejects.toMatchObject({ code: 'SIMULATED_PROVIDER' });
    await session.end();
  });

  test('says, without any request, that a provider without an address for calls is not called by WebRTC', async () => {
    const asked: string[] = [];
    const answered = async (url: string, init: RequestInit): Promise<Response> => {
      asked.push(url);
      if (!url.endsWith('/api/session')) return fetch(url, init);
      const reply = (await (await fetch(url, init)).json()) as { readonly call: object };
      return Response.json({ ...reply, client_secret: { value: 'ek_1' }, call: { ...reply.call, url: null } });
    };
    const session = await connect({ fetch: answered });
    await expect(session.connectAudio()).rejects.toMatchObject({ code: 'PROVIDER_UNSUPPORTED' });
    expect(asked.filter((url) => !url.startsWith(server.direct))).toEqual([]);
    await session.end();
  });

  test('does not repeat a refused request, and passes on the server’s message', async () => {
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

  test('treats an error that Switchboard did not write as a broken connection, and tries again', async () => {
    const answers = [Response.json(null, { status: 502 }), new Response('<h1>Bad gateway</h1>', { status: 502 })];
    const session = await connect({ fetch: (url: string, init: RequestInit) => answers.shift() ?? fetch(url, init) });
    expect(answers).toHaveLength(0);
    await session.end();
  });

  test('reports that the server died without waiting for the next heartbeat, and that it is back', async () => {
    const mortal = await DemoServer.start({ HEARTBEAT_INTERVAL_SEC: '900' });
    const session = await connect({ baseUrl: mortal.direct, headers: { Origin: mortal.direct } });
    const events = record(session);
    await vi.waitFor(() => expect(session.transport).toBe('socket'), soon);
    await mortal.end('SIGKILL');
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ event: { code: 'NETWORK_ERROR' } }), soon);
    await mortal.start();
    // The SDK tries less and less often, at most half a minute apart.
    await vi.waitFor(() => expect(events.at(-1)).toMatchObject({ type: 'beat' }), soon);
    await session.end();
    await mortal.close();
  });

  describe('with a signal', () => {
    const aborted = { name: 'AbortError' };

    test('asks for no session if it is already aborted', async () => {
      let requests = 0;
      const opened = connect({
        signal: AbortSignal.abort(),
        fetch: () => Promise.reject(new Error(`request ${(requests += 1)}`)),
      });
      await expect(opened).rejects.toMatchObject(aborted);
      expect(requests).toBe(0);
    });

    test('stops asking when it is aborted between two tries', async () => {
      vi.useFakeTimers();
      try {
        const given = new AbortController();
        let requests = 0;
        const opened = connect({
          signal: given.signal,
          fetch() {
            requests += 1;
            setTimeout(() => given.abort());
            return Promise.resolve(new Response('', { status: 502 }));
          },
        });
        const [outcome] = await Promise.all([opened.catch(String), vi.advanceTimersByTimeAsync(60_000)]);
        expect(outcome).toMatch('AbortError');
        expect(requests).toBe(1);
      } finally {
        vi.useRealTimers();
      }
    });

    test('ends the session that is created while it is aborted', async () => {
      const given = new AbortController();
      let id = '';
      const opened = connect({
        signal: given.signal,
        async fetch(url: string, init: RequestInit) {
          const reply = await fetch(url, init);
          if (!url.endsWith('/api/session')) return reply;
          id = ((await reply.clone().json()) as { readonly sm_session_id: string }).sm_session_id;
          given.abort();
          return reply;
        },
      });
      await expect(opened).rejects.toMatchObject(aborted);
      await vi.waitFor(
        async () => expect(await server.session(id)).toMatchObject({ endReason: 'closed_by_client' }),
        soon,
      );
    });

    test('ends the session when it is aborted later', async () => {
      const given = new AbortController();
      const session = await connect({ signal: given.signal });
      given.abort();
      await vi.waitFor(() => expect(session.state).toBe('ended'), soon);
      expect(await server.session(session.id)).toMatchObject({ endReason: 'closed_by_client' });
    });
  });

  describe('with a session that another program created', () => {
    const email = 'ada@example.com';
    const create = async (key = widgetKey): Promise<Readonly<Record<string, unknown>>> => {
      const reply = await fetch(`${server.direct}/api/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: server.direct },
        body: JSON.stringify({ widgetKey: key, agentId: 'guide', email }),
      });
      return (await reply.json()) as Readonly<Record<string, unknown>>;
    };
    /** Connects with a session that was created elsewhere: without a key, and without a create of its own. */
    function take(created: unknown, more: Readonly<Record<string, unknown>> = {}): Promise<Session> {
      const request = (url: string, init: RequestInit): Promise<Response> =>
        url.endsWith('/api/session') ? Promise.reject(new Error('created twice')) : fetch(url, init);
      return sdk.connect({ baseUrl: server.direct, email, WebSocket, fetch: request, created, ...more });
    }

    test('holds it as its own, and ends it', async () => {
      const created = await create();
      const session = await take(created);
      const events = record(session);
      expect(session.id).toBe(created['sm_session_id']);
      await vi.waitFor(() => expect(events.filter(({ type }) => type === 'beat').length).toBeGreaterThan(1), soon);
      expect(session.transport).toBe('socket');
      expect(await session.reportUsage({ tokens: 3 })).toMatchObject({ tokens: 3 });
      await session.end();
      expect(await server.session(session.id)).toMatchObject({ endReason: 'closed_by_client' });
    });

    test('holds it over HTTP if there is no WebSocket', async () => {
      const session = await take(await create(), { WebSocket: NoSocket });
      const events = record(session);
      await vi.waitFor(() => expect(events.map(({ type }) => type)).toContain('beat'), soon);
      await session.end();
    });

    test('asks for it only once there is a microphone', async () => {
      let asked = 0;
      const ask = (): Promise<unknown> => create().finally(() => (asked += 1));
      await expect(take(ask, { audio: true })).rejects.toMatchObject({ code: 'MICROPHONE_INSECURE' });
      expect(asked).toBe(0);
      await (await take(ask)).end();
      expect(asked).toBe(1);
    });

    test('ends it if it was created for a visitor who has gone', async () => {
      const given = new AbortController();
      let id: unknown;
      const ask = async (): Promise<unknown> => {
        const created = await create();
        id = created['sm_session_id'];
        given.abort();
        return created;
      };
      await expect(take(ask, { signal: given.signal })).rejects.toMatchObject({ name: 'AbortError' });
      await vi.waitFor(
        async () => expect(await server.session(String(id))).toMatchObject({ endReason: 'closed_by_client' }),
        soon,
      );
    });

    test('fails with the message of a refusal that is passed on', async () => {
      await expect(take(() => create('w_unknown'))).rejects.toMatchObject({
        name: 'SwitchboardError',
        code: 'INVALID_WIDGET_KEY',
        userMessage: 'This assistant is not set up correctly. Please contact the website.',
      });
    });

    test.each([
      ['something else', { sorry: 'Please log in.' }, /Please log in/],
      ['nothing', () => undefined, /undefined/],
      ['a part of a reply', async () => ({ ...(await create()), call: undefined }), /mode/],
      ['one without limits', async () => ({ ...(await create()), limits: undefined }), /maxIdleSec/],
      ['a failure', () => Promise.reject(new TypeError('fetch failed')), /fetch failed/],
    ])('fails if it is given %s', async (_, created, message) => {
      const expected = { name: 'SwitchboardError', code: 'NETWORK_ERROR', message: expect.stringMatching(message) };
      await expect(take(created)).rejects.toMatchObject(expected);
    });
  });

  test('opens a session for each call in a back end, which serves many users', async () => {
    const [one, other] = await Promise.all([connect(), connect()]);
    expect(one.id).not.toBe(other.id);
    await Promise.all([one.end(), other.end()]);
  });

  test('gives up creating a session if nobody answers', async () => {
    const nobody = sdk.connect({ baseUrl: 'http://127.0.0.1:9', widgetKey });
    await expect(nobody).rejects.toMatchObject({ code: 'NETWORK_ERROR', status: 0 });
  });
});
