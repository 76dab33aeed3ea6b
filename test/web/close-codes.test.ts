import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { created } from '../support/fake-server.ts';
import { FakeWebSocket as FakeSocket } from '../support/fake-web-socket.ts';
import { loadSdk, record, type Session } from './sdk.ts';

const session = { active: true, startedAt: '', lastSeenAt: '', durationSec: 0, idleSec: 0 };
const over = { error: 'over', code: 'SESSION_DURATION_EXCEEDED', userMessage: 'It is over.', reason: 'idle_exceeded' };

/** Answers heartbeats; a test may replace `reply`. */
const server = {
  reply: (_given: AbortSignal): Response | Promise<Response> => Response.json({ ok: true, session }),
  heartbeats: 0,
};

/** A server that does not answer: the request ends when its caller gives up. */
function neverReply(given: AbortSignal): Promise<Response> {
  return new Promise((_resolve, reject) => {
    given.addEventListener('abort', () => reject(given.reason as Error));
  });
}

async function connect(): Promise<{ readonly session: Session; readonly events: ReturnType<typeof record> }> {
  const { connect } = await loadSdk();
  const session = await connect({
    baseUrl: 'https://s.example',
    WebSocket: FakeSocket,
    async fetch(url: string, { signal }: { readonly signal: AbortSignal }) {
      if (url.endsWith('/api/session')) return Response.json(created);
      server.heartbeats += 1;
      return server.reply(signal);
    },
  });
  return { session, events: record(session) };
}

/** How many milliseconds after a close the next socket is opened; Infinity if none is within five minutes. */
async function reopensAfter(code: number): Promise<number> {
  const sockets = FakeSocket.opened.length;
  FakeSocket.opened.at(-1)?.end(code);
  for (let ms = 0; ms < 300_000; ms += 50) {
    if (FakeSocket.opened.length > sockets) return ms;
    await vi.advanceTimersByTimeAsync(50);
  }
  return Infinity;
}

describe('When the server closes the socket, the SDK', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    // The platform's `timeout` does not follow the test's clock.
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const late = new AbortController();
      setTimeout(() => late.abort(new DOMException('', 'TimeoutError')), ms);
      return late.signal;
    });
    FakeSocket.opened.length = 0;
    server.heartbeats = 0;
    server.reply = () => Response.json({ ok: true, session });
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  test('reconnects within a second if the node shuts down (1012)', async () => {
    await connect();
    FakeSocket.opened[0]?.attach();
    expect(await reopensAfter(1012)).toBeLessThanOrEqual(1000);
  });

  test.each([4429, 4503])('waits some seconds if it is told to send less (%s)', async (code) => {
    await connect();
    FakeSocket.opened[0]?.attach();
    expect(await reopensAfter(code)).toBeGreaterThanOrEqual(4000);
  });

  test('waits twice as long after each failed socket, at most half a minute', async () => {
    await connect();
    const waits: number[] = [];
    for (let failures = 0; failures < 9; failures += 1) waits.push(await reopensAfter(1006));
    expect(waits.slice(0, 4)).toEqual([400, 750, 1500, 3000]);
    expect(waits.at(-1)).toBe(22_500);
  });

  test('opens no other socket if the session is over (4403), and asks for the reason that it missed', async () => {
    const { events } = await connect();
    FakeSocket.opened[0]?.attach();
    server.reply = () => Response.json(over, { status: 403 });
    expect(await reopensAfter(4403)).toBe(Infinity);
    expect(events.at(-1)).toEqual({
      type: 'ended',
      event: { reason: 'idle_exceeded', code: over.code, userMessage: over.userMessage },
    });
    expect(server.heartbeats).toBe(1);
  });

  test('ends the session as unknown if the server does not know it (4404)', async () => {
    const { events, session } = await connect();
    server.reply = () =>
      Response.json({ error: '', code: 'SESSION_NOT_FOUND', userMessage: 'Not found.' }, { status: 404 });
    expect(await reopensAfter(4404)).toBe(Infinity);
    expect(session.state).toBe('ended');
    expect(events.at(-1)).toMatchObject({ type: 'ended', event: { reason: 'not_found', userMessage: 'Not found.' } });
  });

  test('takes the reason from the last frame, and does nothing after it', async () => {
    const { events } = await connect();
    FakeSocket.opened[0]?.attach();
    FakeSocket.opened[0]?.hear({ type: 'ended', ...over, maxMinutes: 15 });
    expect(await reopensAfter(4403)).toBe(Infinity);
    expect(events.map(({ type }) => type)).toEqual(['transport', 'beat', 'state', 'ended']);
    expect(server.heartbeats).toBe(0);
  });

  test('gives up a socket that does not answer a heartbeat, and sends it over HTTP', async () => {
    const { session, events } = await connect();
    FakeSocket.opened[0]?.attach();
    await vi.advanceTimersByTimeAsync(45_000);
    expect(FakeSocket.opened[0]?.sent.at(-1)).toMatchObject({ type: 'heartbeat' });
    expect(server.heartbeats).toBe(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(server.heartbeats).toBe(1);
    expect(session.transport).toBe('http');
    expect(events.at(-1)?.type).toBe('beat');
  });

  describe('and nobody answers', () => {
    beforeEach(() => {
      server.reply = () => {
        throw new TypeError('connection refused');
      };
    });

    test('reports it as soon as no other socket opens, long before the next heartbeat is due', async () => {
      const { events } = await connect();
      FakeSocket.opened[0]?.attach();
      expect(await reopensAfter(1006)).toBeLessThanOrEqual(1000);
      expect(server.heartbeats).toBe(0);
      FakeSocket.opened[1]?.end(1006);
      await vi.advanceTimersByTimeAsync(0);
      expect(events.at(-1)).toMatchObject({ type: 'error', event: { code: 'NETWORK_ERROR' } });
    });

    test('reports it when the first socket does not open', async () => {
      const { events } = await connect();
      FakeSocket.opened[0]?.end(1006);
      await vi.advanceTimersByTimeAsync(0);
      expect(events.at(-1)).toMatchObject({ type: 'error', event: { code: 'NETWORK_ERROR' } });
    });

    test('reports it before the next heartbeat is due if the server accepts requests but does not answer', async () => {
      server.reply = neverReply;
      const { events } = await connect();
      FakeSocket.opened[0]?.attach();
      // One heartbeat over the socket, then the same over HTTP, each given up after ten seconds.
      await vi.advanceTimersByTimeAsync(45_000 + 10_000 + 10_000);
      expect(server.heartbeats).toBe(1);
      expect(events.at(-1)).toMatchObject({ type: 'error', event: { code: 'NETWORK_ERROR' } });
    });
  });

  test('sends a heartbeat at once over HTTP if sockets are blocked, and then as usual', async () => {
    await connect();
    for (let failures = 0; failures < 4; failures += 1) await reopensAfter(1006);
    expect(server.heartbeats).toBe(1);
  });

  test.each([1012, 4429, 4503])(
    'sends no extra heartbeats to a server that closed the socket itself (%s)',
    async (code) => {
      await connect();
      for (let closes = 0; closes < 3; closes += 1) await reopensAfter(code);
      expect(server.heartbeats).toBe(0);
    },
  );

  test('reports the real idle time once the page has reported activity, and none before', async () => {
    const { session } = await connect();
    FakeSocket.opened[0]?.attach();
    await vi.advanceTimersByTimeAsync(45_000);
    expect(FakeSocket.opened[0]?.sent.at(-1)).not.toHaveProperty('idleSec');
    session.active();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.heartbeats).toBeGreaterThan(0);
    expect(session.idleSec).toBe(60);
  });
});
