import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakePeer, FakeStream } from '../support/fake-peer.ts';
import { created } from '../support/fake-server.ts';
import { FakeWebSocket } from '../support/fake-web-socket.ts';
import { loadSdk, record, type Session } from './sdk.ts';

const AWAY_MS = 5000;
const GATHER_MS = 1000;

interface Posted {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

describe('A call that Switchboard opens', () => {
  let session: Session;
  let events: ReturnType<typeof record>;
  let posted: Posted[];
  /** Replies that refuse the next offers; once they are used up, offers are accepted. */
  let refusals: Response[];
  /** Whether the server gives out no more tickets. */
  let isUsedUp: boolean;
  const stream = { current: new FakeStream() };

  beforeEach(async () => {
    vi.useFakeTimers();
    vi.stubGlobal('RTCPeerConnection', FakePeer);
    FakePeer.opened.length = 0;
    stream.current = new FakeStream();
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: () => Promise.resolve(stream.current) } });
    await open('open');
  });

  afterEach(async () => {
    await session.end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  async function open(dataChannel: string, options: object = {}, terms: object = {}, agent?: object): Promise<void> {
    posted = [];
    refusals = [];
    isUsedUp = false;
    let tickets = 0;
    const call = { mode: 'brokered', url: 'https://s.example/voice/api/realtime/calls', dataChannel, ...terms };
    const { connect } = await loadSdk();
    session = await connect({
      baseUrl: 'https://s.example/voice',
      email: 'ada@example.com',
      WebSocket: FakeWebSocket,
      ...options,
      fetch(url: string, { headers, body }: { headers: Record<string, string>; body: string }) {
        const path = url.replace('https://s.example/voice', '');
        if (!path.endsWith('/session')) posted.push({ path, authorization: headers['Authorization'], body });
        if (path.endsWith('/session')) return Promise.resolve(Response.json({ ...created, call, agent }));
        if (path.endsWith('/ticket')) {
          if (isUsedUp)
            return Promise.resolve(
              Response.json({ code: 'RATE_LIMIT_EXCEEDED', userMessage: 'No more.' }, { status: 429 }),
            );
          tickets += 1;
          return Promise.resolve(Response.json({ client_secret: { value: `ek_sb_${tickets}`, expires_at: 0 } }));
        }
        return Promise.resolve(refusals.shift() ?? Response.json({ ok: true }, { status: 201 }));
      },
    });
    events = record(session);
  }

  const peer = (n = 0): FakePeer => FakePeer.opened[n] ?? new FakePeer();
  const states = (type: 'media' | 'call'): unknown[] =>
    events.filter((event) => event.type === type).map(({ event }) => event['state']);
  const offers = (): unknown[] =>
    posted.filter(({ path }) => path.endsWith('/calls')).map(({ authorization }) => authorization);

  test('is requested at the session’s URL, with its ticket', async () => {
    await session.connectAudio();
    expect(posted).toEqual([{ path: '/api/realtime/calls', authorization: 'Bearer ek_1', body: 'v=0' }]);
    expect(states('call')).toEqual(['creating', 'open']);
  });

  test('needs a ticket of its own if the session has had one before', async () => {
    await session.connectAudio();
    await session.connectAudio();
    expect(offers()).toEqual(['Bearer ek_1', 'Bearer ek_sb_1']);
    const ticket = posted.find(({ path }) => path === '/api/realtime/ticket');
    expect(JSON.parse(ticket?.body ?? '')).toEqual({ sm_session_id: created.sm_session_id, email: 'ada@example.com' });
  });

  test('asks for a new ticket if the first is no longer valid, but not for a third', async () => {
    refusals = [new Response('', { status: 401 })];
    await session.connectAudio();
    expect(offers()).toEqual(['Bearer ek_1', 'Bearer ek_sb_1']);
    refusals = [new Response('', { status: 401 }), new Response('', { status: 401 })];
    await expect(session.connectAudio()).rejects.toMatchObject({ code: 'PROVIDER_REFUSED', status: 401 });
  });

  test('that is refused is reported in Switchboard’s words', async () => {
    const body = { code: 'DAILY_QUOTA_EXCEEDED', error: 'no', userMessage: "Today's limit is reached." };
    refusals = [Response.json(body, { status: 429 })];
    await expect(session.connectAudio()).rejects.toMatchObject({
      code: body.code,
      userMessage: body.userMessage,
      status: 429,
    });
    expect(stream.current.active).toBe(false);
  });

  test('sends its offer once the browser has gathered its addresses, or after a second', async () => {
    class LatePeer extends FakePeer {
      override iceGatheringState = 'gathering';
    }
    vi.stubGlobal('RTCPeerConnection', LatePeer);
    const first = session.connectAudio();
    await vi.advanceTimersByTimeAsync(GATHER_MS - 1);
    expect(offers()).toEqual([]);
    peer().iceGatheringState = 'complete';
    peer().onicegatheringstatechange?.();
    await first;
    const second = session.connectAudio();
    await vi.advanceTimersByTimeAsync(GATHER_MS);
    await second;
    expect(offers()).toHaveLength(2);
  });

  describe('without a data channel', () => {
    const socket = (): FakeWebSocket => FakeWebSocket.opened.at(-1) ?? new FakeWebSocket();
    const heard = (type: string): object[] =>
      events.filter((event) => event.type === type).map(({ event }) => event as object);

    beforeEach(async () => {
      await session.end();
      const tools = { add: ({ a, b }: { a: number; b: number }) => a + b, fill: () => 'x'.repeat(20_000) };
      await open('none', { tools });
      await session.connectAudio();
      socket().attach();
      expect(socket().sent).toMatchObject([{ type: 'attach', wants: ['call'] }]);
    });

    test('sends texts and interrupts over the socket, and shows what the socket reports', () => {
      session.send('Hello?');
      session.interrupt();
      expect(socket().sent.slice(1)).toEqual([
        { type: 'say', id: expect.any(String), text: 'Hello?' },
        { type: 'interrupt' },
      ]);
      const words = { type: 'transcript', id: 'i1', who: 'visitor', text: 'Hello?', final: true };
      socket().hear(words);
      socket().hear({ type: 'speech', who: 'agent', on: true });
      socket().hear({ type: 'call', state: 'open', call: 'call_a' });
      expect(heard('transcript')).toEqual([words]);
      expect(heard('speech')).toEqual([{ type: 'speech', who: 'agent', on: true }]);
      expect(session.state).toBe('engaged');
      socket().hear({ type: 'error', code: 'CALL_NOT_OPEN', userMessage: 'no', id: 'x' });
      expect(heard('error')).toMatchObject([{ code: 'CALL_NOT_OPEN' }]);
    });

    const says = (): unknown[] => socket().sent.filter(({ type }) => type === 'say');
    const isOpen = { type: 'call', state: 'open', call: 'call_a' };

    test('sends again, by the same id, what was written on a socket that died, unless the call has shown it', async () => {
      for (const text of ['Is anybody there?', 'Hello?', 'And when?']) session.send(text);
      const written = says();
      socket().hear({ type: 'transcript', id: 'i1', who: 'visitor', text: 'there?', final: false });
      socket().hear({ type: 'transcript', id: 'i2', who: 'visitor', text: '', final: true });
      socket().hear({ type: 'transcript', id: 'i3', who: 'agent', text: 'Is anybody there?', final: true });
      socket().hear({ type: 'transcript', id: 'i4', who: 'visitor', text: 'Hello?', final: true });
      const sockets = FakeWebSocket.opened.length;
      socket().end(1006);
      await vi.advanceTimersByTimeAsync(1000);
      expect(FakeWebSocket.opened).toHaveLength(sockets + 1);
      socket().attach();
      socket().hear({ ...isOpen, state: 'connecting' });
      expect(says()).toEqual([]);
      socket().hear(isOpen);
      expect(says()).toEqual([written[0], written[2]]);
      // It is cut to its end if it is long.
      socket().hear({ type: 'transcript', id: 'i5', who: 'visitor', text: 'there?', final: true, cut: true });
      socket().hear({
        type: 'error',
        code: 'RATE_LIMIT_EXCEEDED',
        userMessage: 'no',
        id: (written[2] as { id: string }).id,
      });
      socket().hear(isOpen);
      expect(says()).toHaveLength(2);
    });

    test('sends again one of two equal texts if the call has shown one, and gives back at the end what it has not shown', async () => {
      for (const text of ['Hello?', 'And when?', 'Hello?']) session.send(text);
      const written = says();
      for (const text of ['Hello?', 'And when?'])
        socket().hear({ type: 'transcript', id: `i ${text}`, who: 'visitor', text, final: true });
      socket().end(1006);
      await vi.advanceTimersByTimeAsync(1000);
      socket().attach();
      socket().hear(isOpen);
      expect(says()).toEqual([written[2]]);
      const ended = { type: 'ended', code: 'SESSION_DURATION_EXCEEDED', userMessage: 'It is over.' };
      socket().hear({ ...ended, reason: 'duration_exceeded' });
      const told = events.flatMap(({ type, event }) =>
        ['error', 'ended'].includes(type) ? [{ ...(event as object), type }] : [],
      );
      expect(told.slice(-2)).toMatchObject([
        { type: 'error', code: 'SESSION_DURATION_EXCEEDED', userMessage: 'It is over.', text: 'Hello?' },
        { type: 'ended', reason: 'duration_exceeded' },
      ]);
      expect(told.filter((one) => 'text' in one && one.text !== undefined)).toHaveLength(1);
    });

    test('finds out soon after a text whether the socket is dead', async () => {
      await vi.advanceTimersByTimeAsync(10_000);
      const sockets = FakeWebSocket.opened.length;
      session.send('Hello?');
      expect(socket().sent.at(-1)).toMatchObject({ type: 'heartbeat', idleSec: 0 });
      await vi.advanceTimersByTimeAsync(11_000);
      expect(FakeWebSocket.opened).toHaveLength(sockets + 1);
    });

    test('says which text was refused', () => {
      session.send('Hello?');
      const [{ id }] = says() as [{ readonly id: string }];
      const refused = { type: 'error', code: 'CALL_NOT_OPEN', userMessage: 'Not now.', id };
      socket().hear(refused);
      socket().hear(refused);
      expect(heard('error')).toMatchObject([
        { code: 'CALL_NOT_OPEN', userMessage: 'Not now.', text: 'Hello?' },
        { code: 'CALL_NOT_OPEN', text: undefined },
      ]);
    });

    test('runs the page’s tools, and reports what does not fit into a frame', async () => {
      socket().hear({ type: 'tool', id: 't1', name: 'add', arguments: '{"a":2,"b":3}' });
      socket().hear({ type: 'tool', id: 't2', name: 'missing', arguments: '' });
      socket().hear({ type: 'tool', id: 't3', name: 'fill', arguments: '' });
      await vi.advanceTimersByTimeAsync(1);
      expect(heard('tool')[0]).toEqual({ id: 't1', name: 'add', arguments: '{"a":2,"b":3}' });
      const sent = socket()
        .sent.slice(1)
        .toSorted((a, b) => String(a['id']).localeCompare(String(b['id'])));
      expect(sent).toEqual([
        { type: 'tool_result', id: 't1', output: 5 },
        { type: 'tool_result', id: 't2', output: { error: 'Error: There is no tool missing.' } },
        { type: 'tool_result', id: 't3', output: { error: 'too_large' } },
      ]);
    });
  });

  describe('whose visitor holds a button to speak', () => {
    const agent = { captions: true, greets: false, push: true, tellAi: true };
    const isHeard = (): boolean => stream.current.tracks[0]?.enabled === true;
    const types = (sent: readonly unknown[]): unknown[] => sent.map((event) => (event as { type: unknown }).type);
    const socket = (): FakeWebSocket => FakeWebSocket.opened.at(-1) ?? new FakeWebSocket();

    async function begin(dataChannel: string): Promise<void> {
      await session.end();
      await open(dataChannel, {}, {}, agent);
      await session.connectAudio();
      socket().attach();
    }

    test('sends the microphone only while they do, and reports each press once over the socket', async () => {
      await begin('none');
      expect([isHeard(), session.agent]).toEqual([false, agent]);
      session.talk(true);
      session.talk(true);
      expect(isHeard()).toBe(true);
      session.mute(true);
      expect(isHeard()).toBe(false);
      session.mute(false);
      session.talk(false);
      session.talk(false);
      expect(isHeard()).toBe(false);
      expect(socket().sent.slice(1)).toEqual([
        { type: 'talk', on: true },
        { type: 'talk', on: false },
      ]);
    });

    test('sends nothing if a press cannot be reported, and nothing in the next call before they press again', async () => {
      await begin('none');
      session.talk(true);
      await session.connectAudio();
      expect(isHeard()).toBe(false);
      session.talk(true);
      expect(isHeard()).toBe(true);
      socket().dispatchEvent(new Event('close'));
      expect(() => session.talk(false)).toThrow('NETWORK_ERROR');
      expect(isHeard()).toBe(false);
      expect(() => session.talk(true)).toThrow('NETWORK_ERROR');
      expect(isHeard()).toBe(false);
    });

    test('uses the provider’s own events if there is a data channel, and is answered once the speech is a turn', async () => {
      await begin('open');
      const [channel] = peer().channels;
      channel?.open();
      session.talk(true);
      session.talk(false);
      expect(types(channel?.sent ?? [])).toEqual([
        'input_audio_buffer.clear',
        'response.cancel',
        'output_audio_buffer.clear',
        'input_audio_buffer.commit',
      ]);
      // A visitor who said nothing is not shown an error.
      channel?.tell({ type: 'error', error: { code: 'input_audio_buffer_commit_empty' } });
      expect(events.filter(({ type }) => type === 'error')).toEqual([]);
      channel?.tell({ type: 'input_audio_buffer.committed', item_id: 'i' });
      expect(types(channel?.sent.slice(4) ?? [])).toEqual(['response.create']);
      session.talk(true);
      channel?.tell({ type: 'input_audio_buffer.committed', item_id: 'j' });
      expect(types(channel?.sent.slice(5) ?? [])).not.toContain('response.create');
      const speech = events.filter(({ type }) => type === 'speech').map(({ event }) => event);
      expect(speech).toEqual([true, false, true].map((on) => ({ who: 'visitor', on })));
    });

    test('is heard all the time by an agent without that button', async () => {
      await session.connectAudio();
      session.talk(true);
      session.talk(false);
      expect([isHeard(), session.agent]).toEqual([true, undefined]);
    });
  });

  describe('in writing', () => {
    const silent = { current: new FakeStream() };
    const asked = vi.fn<() => Promise<FakeStream>>();

    beforeEach(() => {
      silent.current = new FakeStream();
      asked.mockReset().mockImplementation(() => Promise.resolve(stream.current));
      vi.stubGlobal('navigator', { mediaDevices: { getUserMedia: asked } });
      vi.stubGlobal(
        'AudioContext',
        class {
          createMediaStreamDestination(): object {
            return { stream: silent.current };
          }

          close(): void {
            silent.current.tracks[0]?.stop();
          }
        },
      );
    });

    test('sends silence, asks for no microphone, and releases one that was open', async () => {
      await session.end();
      await open('none', { audio: true });
      const call = (await session.connectText()) as { readonly stream: unknown };
      expect(call.stream).toBe(silent.current);
      expect(FakePeer.opened.at(-1)?.track).toBe(silent.current.tracks[0]);
      expect(asked).toHaveBeenCalledTimes(1);
      expect(stream.current.active).toBe(false);
      await session.end();
      expect(silent.current.active).toBe(false);
    });

    test('changes to speech and back, each time with a ticket of its own', async () => {
      await session.connectText();
      await session.connectAudio();
      expect(peer(0).connectionState).toBe('closed');
      expect(peer(1).track).toBe(stream.current.tracks[0]);
      await session.connectText();
      expect(stream.current.active).toBe(false);
      expect(offers()).toEqual(['Bearer ek_1', 'Bearer ek_sb_1', 'Bearer ek_sb_2']);
      expect(states('media')).not.toContain('lost');
    });

    test('stays in writing if the microphone is refused then', async () => {
      await session.connectText();
      asked.mockRejectedValue(Object.assign(new Error('no'), { name: 'NotAllowedError' }));
      await expect(session.connectAudio()).rejects.toMatchObject({ code: 'MICROPHONE_BLOCKED' });
      expect(peer(0).connectionState).not.toBe('closed');
      expect(offers()).toHaveLength(1);
      expect(() => session.send('Hello?')).not.toThrow();
    });

    test('stays as it is, spoken or in writing, if Switchboard gives no further ticket', async () => {
      const another = async (joined: Promise<unknown>): Promise<void> => {
        const [refused] = await Promise.allSettled([joined, vi.advanceTimersByTimeAsync(10_000)]);
        expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'RATE_LIMIT_EXCEEDED' } });
        expect(states('media')).not.toContain('lost');
        expect(() => session.send('Hello?')).not.toThrow();
      };
      await session.connectAudio();
      peer(0).become('connected');
      isUsedUp = true;
      await another(session.connectText());
      expect([peer(0).connectionState, stream.current.active]).toEqual(['connected', true]);
      isUsedUp = false;
      await session.connectText();
      peer(1).become('connected');
      isUsedUp = true;
      stream.current = new FakeStream();
      await another(session.connectAudio());
      expect([peer(1).connectionState, silent.current.active]).toEqual(['connected', true]);
      // The microphone that was opened for the call is released.
      expect(stream.current.active).toBe(false);
    });

    test('ends with its session, even while the microphone is being requested', async () => {
      await session.connectText();
      let give: (given: FakeStream) => void = () => undefined;
      asked.mockReturnValue(new Promise((resolve) => (give = resolve)));
      const speaking = session.connectAudio();
      await session.end();
      give(stream.current);
      await expect(speaking).rejects.toMatchObject({ reason: 'closed_by_client' });
      expect(stream.current.active).toBe(false);
      expect(silent.current.active).toBe(false);
    });
  });

  test('reports while a tool of the server runs, even if the page has a data channel', async () => {
    await session.end();
    await open('open', {}, { serverTools: ['hours'] });
    const socket = FakeWebSocket.opened.at(-1);
    socket?.attach();
    expect(socket?.sent).toMatchObject([{ type: 'attach', wants: ['call'] }]);
    socket?.hear({ type: 'thinking', on: true, tool: 'hours' });
    socket?.hear({ type: 'thinking', on: false });
    expect(events.filter(({ type }) => type === 'thinking').map(({ event }) => [event['on'], event['tool']])).toEqual([
      [true, 'hours'],
      [false, undefined],
    ]);
  });

  test('has no data channel if the agent forbids it', async () => {
    await session.end();
    await open('none');
    const call = (await session.connectAudio()) as { readonly channel: unknown };
    expect(call.channel).toBeUndefined();
    expect(FakePeer.opened.at(-1)?.channels).toEqual([]);
  });

  test('is metered by Switchboard: the page reports no usage, and its developer is told why', async () => {
    const note = vi.spyOn(console, 'info').mockImplementation(() => undefined);
    const reportUsage = vi.fn(() => ({ tokens: 1 }));
    await session.connectAudio({ reportUsage });
    const done = { type: 'response.done', response: { id: 'resp_1', usage: { total_tokens: 5 } } };
    peer().channels[0]?.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(done) }));
    expect(reportUsage).not.toHaveBeenCalled();
    expect(note.mock.calls).toEqual([[expect.stringContaining('Switchboard meters')]]);
  });

  test.each([
    ['fails', (): Promise<void> => Promise.resolve(peer().become('failed'))],
    [
      'is away for five seconds',
      async (): Promise<void> => {
        peer().become('disconnected');
        await vi.advanceTimersByTimeAsync(AWAY_MS - 1);
        expect(offers()).toHaveLength(1);
        await vi.advanceTimersByTimeAsync(1);
      },
    ],
  ])('is reopened with a ticket and the same microphone when its connection %s', async (_how, lose) => {
    const call = (await session.connectAudio()) as { readonly peer: unknown };
    peer().become('connected');
    await lose();
    await vi.waitFor(() => expect(offers()).toEqual(['Bearer ek_1', 'Bearer ek_sb_1']));
    expect(peer().connectionState).toBe('closed');
    peer(1).become('connected');
    expect(call.peer).toBe(peer(1));
    expect(stream.current.active).toBe(true);
    expect(states('media').at(-1)).toBe('connected');
    expect(states('call')).toEqual(['creating', 'open', 'creating', 'open']);
  });

  test('is lost if the call that replaces it does not connect either', async () => {
    await session.connectAudio();
    peer().become('connected');
    peer().become('failed');
    await vi.waitFor(() => expect(offers()).toHaveLength(2));
    peer(1).become('failed');
    expect(states('media')).toEqual(['connecting', 'connected', 'lost']);
    expect(states('call').at(-1)).toBe('closed');
    expect([offers().length, stream.current.active]).toEqual([2, false]);
  });

  test.each([
    [
      'its encryption is closed',
      (): void => {
        Object.assign(peer().transport, { state: 'closed' }).dispatchEvent(new Event('statechange'));
      },
    ],
    ['its channel is closed', (): unknown => peer().channels[0]?.dispatchEvent(new Event('close'))],
  ])('that was hung up is not reopened: %s', async (_how, hangUp) => {
    await session.connectAudio();
    peer().become('connected');
    hangUp();
    expect(states('media').at(-1)).toBe('lost');
    expect([peer().connectionState, stream.current.active]).toEqual(['closed', false]);
    await vi.advanceTimersByTimeAsync(AWAY_MS);
    expect(offers()).toHaveLength(1);
  });

  test('is reported to the page as Switchboard hears it, which does not change the call’s state', async () => {
    await session.connectAudio();
    const heard = ['ready', 'speaking', 'listening', 'over'];
    for (const event of heard) FakeWebSocket.opened.at(-1)?.hear({ type: 'call', event, call: 'call_1' });
    const told = events.filter(({ type }) => type === 'heard');
    expect(told.map(({ event }) => [event['event'], event['call']])).toEqual(heard.map((event) => [event, 'call_1']));
    expect(states('call')).toEqual(['creating', 'open']);
  });

  test('stops only after the page has heard that the session is over', async () => {
    await session.connectAudio();
    peer().become('connected');
    const seen: unknown[] = [];
    session.on('call', ({ state }) => seen.push(state));
    session.on('ended', ({ reason }) => seen.push(reason, peer().connectionState, stream.current.active));
    FakeWebSocket.opened.at(-1)?.hear({ type: 'ended', reason: 'ended_by_operator', code: 'X', userMessage: 'Over.' });
    expect(seen).toEqual(['closing', 'ended_by_operator', 'connected', true]);
    expect([peer().connectionState, stream.current.active]).toEqual(['closed', false]);
  });
});
