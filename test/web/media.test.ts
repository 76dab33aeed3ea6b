import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakePeer, FakeStream } from '../support/fake-peer.ts';
import { created } from '../support/fake-server.ts';
import { loadSdk, record, type Session } from './sdk.ts';

const CONNECT_MS = 20_000;
const AWAY_MS = 10_000;

describe('A call with the provider, by the clock,', () => {
  const stream = { current: new FakeStream() };
  let session: Session;
  let states: () => unknown[];

  beforeEach(async () => {
    vi.useFakeTimers();
    vi.stubGlobal('RTCPeerConnection', FakePeer);
    FakePeer.opened.length = 0;
    stream.current = new FakeStream();
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => Promise.resolve(stream.current) } });
    const { connect } = await loadSdk();
    session = await connect({
      baseUrl: 'https://s.example',
      WebSocket: class extends EventTarget {
        close(): void {
          // It never opens, so it has nothing to close.
        }
      },
      fetch: (url: string) =>
        Promise.resolve(
          url.endsWith('/session') ? Response.json(created) : Response.json({ ok: true }, { status: 201 }),
        ),
    });
    const events = record(session);
    states = () => events.filter(({ type }) => type === 'media').map(({ event }) => event['state']);
    await session.connectAudio();
  });

  afterEach(async () => {
    await session.end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const peer = (): FakePeer => FakePeer.opened[0] ?? new FakePeer();

  test('is lost if it does not connect', async () => {
    await vi.advanceTimersByTimeAsync(CONNECT_MS - 1);
    expect(states()).toEqual(['connecting']);
    await vi.advanceTimersByTimeAsync(1);
    expect(states()).toEqual(['connecting', 'lost']);
    expect([peer().connectionState, stream.current.active]).toEqual(['closed', false]);
  });

  test('has time to connect from the answer on, however long that took', async () => {
    await vi.advanceTimersByTimeAsync(CONNECT_MS - 1);
    peer().dispatchEvent(new Event('signalingstatechange'));
    await vi.advanceTimersByTimeAsync(CONNECT_MS - 1);
    expect(states()).toEqual(['connecting']);
    await vi.advanceTimersByTimeAsync(1);
    expect(states()).toEqual(['connecting', 'lost']);
  });

  test('stays if its network comes back in time', async () => {
    peer().become('connected');
    peer().become('disconnected');
    await vi.advanceTimersByTimeAsync(AWAY_MS - 1);
    peer().become('connected');
    await vi.advanceTimersByTimeAsync(CONNECT_MS + AWAY_MS);
    expect(states()).toEqual(['connecting', 'connected', 'reconnecting', 'connected']);
    expect([peer().connectionState, stream.current.active]).toEqual(['connected', true]);
  });

  test('is lost if its network stays away', async () => {
    peer().become('connected');
    peer().become('disconnected');
    await vi.advanceTimersByTimeAsync(AWAY_MS);
    expect(states()).toEqual(['connecting', 'connected', 'reconnecting', 'lost']);
    expect([peer().connectionState, stream.current.active]).toEqual(['closed', false]);
  });

  test('is lost at once, and only once, when the browser gives it up', () => {
    peer().become('connected');
    peer().become('failed');
    peer().become('disconnected');
    stream.current.tracks[0]?.dispatchEvent(new Event('ended'));
    expect(states()).toEqual(['connecting', 'connected', 'lost']);
  });

  test('is requested at once: its offer does not wait until the browser has gathered its addresses', async () => {
    class LatePeer extends FakePeer {
      override iceGatheringState = 'gathering';
    }
    vi.stubGlobal('RTCPeerConnection', LatePeer);
    const answered = vi.fn<() => void>();
    const call = session.connectAudio().then(answered);
    await vi.advanceTimersByTimeAsync(0);
    expect(answered).toHaveBeenCalledOnce();
    await call;
  });

  test('reports nothing more once the page has hung up', async () => {
    peer().become('connected');
    await session.end();
    peer().become('failed');
    await vi.advanceTimersByTimeAsync(CONNECT_MS);
    expect(states()).toEqual(['connecting', 'connected']);
    expect(stream.current.active).toBe(false);
  });
});
