import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakePeer, FakeStream, type FakeChannel } from '../support/fake-peer.ts';
import { created } from '../support/fake-server.ts';
import { loadSdk, record, type Session } from './sdk.ts';

const TOOL_MS = 10_000;
const PAUSE_MS = 600;

describe('A conversation', () => {
  let session: Session;
  let events: ReturnType<typeof record>;
  let creates: Readonly<Record<string, unknown>>[];
  let streams: FakeStream[];
  const asked: unknown[] = [];

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('RTCPeerConnection', FakePeer);
    FakePeer.opened.length = 0;
    asked.length = 0;
    [streams, creates] = [[], []];
    const getUserMedia = (constraints: unknown): Promise<FakeStream> => {
      asked.push(constraints);
      const stream = new FakeStream();
      streams.push(stream);
      return Promise.resolve(stream);
    };
    const enumerateDevices = (): Promise<object[]> =>
      Promise.resolve([
        { kind: 'audioinput', deviceId: 'a' },
        { kind: 'audiooutput', deviceId: 'b' },
      ]);
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia, enumerateDevices } });
  });

  afterEach(async () => {
    await session.end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** Opens a session and its call. @param call the `call` in the reply to its create; `agent` likewise */
  async function call(options: object = {}, call: object = created.call, agent?: object): Promise<void> {
    const { connect } = await loadSdk();
    session = await connect({
      baseUrl: 'https://s.example',
      WebSocket: class extends EventTarget {
        close(): void {
          // It never opens, so it has nothing to close.
        }
      },
      fetch(url: string, { body }: { readonly body: string }) {
        const refusal = { code: 'DAILY_QUOTA_EXCEEDED', userMessage: 'Enough.' };
        if (url.endsWith('/usage')) return Promise.resolve(Response.json(refusal, { status: 429 }));
        if (!url.endsWith('/session')) return Promise.resolve(Response.json({ ok: true }, { status: 201 }));
        creates.push(JSON.parse(body) as Readonly<Record<string, unknown>>);
        return Promise.resolve(Response.json({ ...created, call, agent }));
      },
      ...options,
    });
    events = record(session);
    await session.connectAudio();
  }

  const peer = (): FakePeer => FakePeer.opened.at(-1) ?? new FakePeer();
  const channel = (): FakeChannel => peer().channels[0] ?? peer().createDataChannel();
  const told = (type: string): unknown[] => events.filter((event) => event.type === type).map(({ event }) => event);

  /** The agent asks for tools in a response, of which the page is told; resolves once the page has sent all that it sends at once. */
  async function respond(calls: readonly object[], status = 'completed'): Promise<void> {
    const output = calls.map((each) => ({ type: 'function_call', ...each }));
    channel().tell({ type: 'response.done', response: { id: 'resp_1', status, output } });
    await vi.advanceTimersByTimeAsync(0);
  }

  const answers = (): unknown[] => channel().sent;
  const answer = (callId: string, output: unknown): object => ({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: callId, output: JSON.stringify(output) },
  });

  describe('in words', () => {
    test.each([
      ['conversation.item.input_audio_transcription', 'completed', 'transcript', 'visitor'],
      ['response.output_audio_transcript', 'done', 'transcript', 'agent'],
      ['response.audio_transcript', 'done', 'transcript', 'agent'],
      ['response.output_text', 'done', 'text', 'agent'],
    ])('reports %s as it grows, and in its final form', async (source, last, field, who) => {
      await call();
      channel().tell({ type: `${source}.delta`, item_id: 'i', delta: 'Good ' });
      channel().tell({ type: `${source}.delta`, item_id: 'other', delta: 'Else' });
      channel().tell({ type: `${source}.delta`, item_id: 'i', delta: 'mornin' });
      channel().tell({ type: `${source}.${last}`, item_id: 'i', [field]: 'Good morning.' });
      expect(told('transcript')).toEqual([
        { id: 'i', who, text: 'Good ', final: false },
        { id: 'other', who, text: 'Else', final: false },
        { id: 'i', who, text: 'Good mornin', final: false },
        { id: 'i', who, text: 'Good morning.', final: true },
      ]);
    });

    test('starts with the agent if it greets, which is requested once in a session, when the first channel opens', async () => {
      const agent = { greets: true };
      await call({}, created.call, agent);
      expect(channel().sent).toEqual([]);
      channel().open();
      expect(channel().sent).toEqual([{ type: 'response.create' }]);
      await session.connectAudio();
      channel().open();
      expect(channel().sent).toEqual([]);
    });

    test('starts with the visitor if they were first; the page asks for no greeting if Switchboard does or the agent has none', async () => {
      await call({}, created.call, { greets: true });
      session.send('Hello?');
      channel().open();
      expect(channel().sent).toMatchObject([{ type: 'conversation.item.create' }, { type: 'response.create' }]);
      for (const [mode, greets] of [
        ['brokered', true],
        ['direct', false],
      ]) {
        await session.end();
        await call({}, { ...created.call, mode }, { greets });
        channel().open();
        expect(channel().sent).toEqual([]);
      }
    });

    test('ignores events without words', async () => {
      await call();
      for (const type of ['response.output_audio.delta', 'response.function_call_arguments.done', 'session.created'])
        channel().tell({ type, item_id: 'i', delta: 'AAAA' });
      expect(told('transcript')).toEqual([]);
    });

    test('sends a text to the agent as soon as it can', async () => {
      await call();
      session.send('Where is the museum?');
      expect(channel().sent).toEqual([]);
      channel().open();
      expect(channel().sent).toEqual([
        {
          type: 'conversation.item.create',
          item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where is the museum?' }] },
        },
        { type: 'response.create' },
      ]);
      session.send('And when?');
      expect(channel().sent).toHaveLength(4);
      expect(told('transcript')).toMatchObject([
        { who: 'visitor', text: 'Where is the museum?', final: true },
        { who: 'visitor', text: 'And when?', final: true },
      ]);
    });

    test('refuses a text, and says why, if there is neither a channel nor a socket, or the call is over', async () => {
      await call({}, { ...created.call, dataChannel: 'none' });
      expect(() => session.send('Hello?')).toThrow(expect.objectContaining({ code: 'NETWORK_ERROR' }));
      await session.end();
      expect(() => session.send('Hello?')).toThrow(expect.objectContaining({ code: 'CALL_LOST' }));
    });
  });

  describe('with tools', () => {
    const tools = {
      lookup: ({ id }: { readonly id: number }) => Promise.resolve({ id, name: 'Ada' }),
      say: () => 'a text',
      nothing: () => undefined,
      bad: () => Promise.reject(new Error('no such person')),
      slow: () => new Promise(() => undefined),
    };

    test.each([
      ['last', ['s1', 'c1'], 1],
      ['first', ['c1', 's1'], 0],
    ])(
      'asks once for the response after tools of both page and server, if the page’s answer came %s',
      async (_title, order, times) => {
        await call({ tools }, { ...created.call, serverTools: ['hours'] });
        channel().open();
        await respond([
          { name: 'hours', call_id: 's1', arguments: '{}' },
          { name: 'say', call_id: 'c1', arguments: '{}' },
        ]);
        expect(answers()).toEqual([answer('c1', 'a text')]);
        for (const call_id of order)
          for (const type of ['conversation.item.added', 'conversation.item.done'])
            channel().tell({ type, item: { type: 'function_call_output', call_id } });
        expect(answers().slice(1)).toEqual(Array.from({ length: times }, () => ({ type: 'response.create' })));
      },
    );

    test('answers all tools of a response, and asks once for the next response', async () => {
      await call({ tools });
      channel().open();
      await respond([
        { name: 'lookup', call_id: 'c1', arguments: '{"id":7}' },
        { name: 'say', call_id: 'c2', arguments: '' },
        { name: 'nothing', call_id: 'c3', arguments: '{}' },
      ]);
      expect(answers()).toHaveLength(4);
      expect(answers()).toEqual(
        expect.arrayContaining([answer('c1', { id: 7, name: 'Ada' }), answer('c2', 'a text'), answer('c3', null)]),
      );
      expect(answers().at(-1)).toEqual({ type: 'response.create' });
    });

    test.each([
      ['that fails', { name: 'bad', arguments: '{}' }, 'Error: no such person'],
      ['that the page has not', { name: 'other', arguments: '{}' }, 'Error: There is no tool other.'],
      ['that no page has', { name: 'constructor', arguments: '{}' }, 'Error: There is no tool constructor.'],
      ['with arguments that are none', { name: 'say', arguments: '{' }, expect.stringContaining('SyntaxError')],
    ])('tells both agent and page about one %s', async (_what, asks, error) => {
      await call({ tools });
      channel().open();
      await respond([{ ...asks, call_id: 'c' }]);
      const [said] = answers() as { readonly item: { readonly output: string } }[];
      expect(JSON.parse(said?.item.output ?? '')).toEqual({ error });
      expect(told('error')).toMatchObject([{ code: 'TOOL_FAILED', userMessage: 'That did not work.' }]);
    });

    test('tells the agent about one that takes too long, and aborts it', async () => {
      let signal: AbortSignal | undefined;
      const slow = (_args: unknown, context: { readonly signal: AbortSignal }): Promise<never> => {
        ({ signal } = context);
        return new Promise(() => undefined);
      };
      const ends = new AbortController();
      vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
        if (ms === TOOL_MS) return ends.signal;
        return new AbortController().signal;
      });
      await call({ tools: { slow } });
      channel().open();
      await respond([{ name: 'slow', call_id: 'c', arguments: '{}' }]);
      expect([answers(), signal?.aborted]).toEqual([[], false]);
      ends.abort(new DOMException('The operation timed out.', 'TimeoutError'));
      await vi.advanceTimersByTimeAsync(0);
      expect(signal?.aborted).toBe(true);
      expect(answers()).toEqual([
        answer('c', { error: 'TimeoutError: The operation timed out.' }),
        { type: 'response.create' },
      ]);
      vi.restoreAllMocks();
    });

    test('does not answer the tools of an interrupted response', async () => {
      await call({ tools });
      channel().open();
      await respond([{ name: 'say', call_id: 'c', arguments: '{"id"' }], 'cancelled');
      expect(answers()).toEqual([]);
    });

    test('leaves the tools to the page if that only lists them', async () => {
      const listed = [{ kind: 'http_tool', name: 'say' }];
      await call({ tools: listed });
      channel().open();
      await respond([{ name: 'say', call_id: 'c', arguments: '{}' }]);
      expect(answers()).toEqual([]);
      expect(creates.map(({ tools: asked }) => asked)).toEqual([listed]);
    });

    test('leaves the server’s tools to the server, even if the page has one of the same name', async () => {
      await call({ tools: { say: () => 'forged' } }, { ...created.call, serverTools: ['say'] });
      channel().open();
      await respond([{ name: 'say', call_id: 'c', arguments: '{}' }]);
      expect(answers()).toEqual([]);
      expect(told('tool')).toEqual([]);
    });

    test('tells the agent that a page has no tools, because it would wait for ever', async () => {
      await call({});
      channel().open();
      await respond([{ name: 'say', call_id: 'c', arguments: '{}' }]);
      expect(answers()[0]).toEqual(answer('c', { error: 'Error: There is no tool say.' }));
      expect(creates[0]).not.toHaveProperty('tools');
    });

    test('describes the tools that the page adds, and none that the agent has', async () => {
      const parameters = { type: 'object' };
      await call({ tools: { ...tools, weather: { description: 'Tells it.', parameters, run: () => 'rain' } } });
      expect(creates[0]?.['tools']).toEqual([
        { kind: 'http_tool', name: 'weather', description: 'Tells it.', parameters },
      ]);
      channel().open();
      await respond([{ name: 'weather', call_id: 'c', arguments: '{}' }]);
      expect(answers()[0]).toEqual(answer('c', 'rain'));
      await call({ tools });
      expect(creates[1]).not.toHaveProperty('tools');
    });
  });

  describe('aloud', () => {
    /** Sets the sums of sound so far, as a browser's statistics report them. */
    function sounds(seconds: number, visitor: number, agent: number): void {
      peer().stats = new Map([
        ['m', { id: 'm', type: 'media-source', totalAudioEnergy: visitor, totalSamplesDuration: seconds }],
        ['i', { id: 'i', type: 'inbound-rtp', totalAudioEnergy: agent, totalSamplesDuration: seconds }],
        ['t', { id: 't', type: 'transport' }],
      ]);
    }

    test('reports how loud both sides are, and who is speaking across short pauses', async () => {
      await call();
      sounds(1, 0, 0);
      await vi.advanceTimersByTimeAsync(100);
      expect(told('speaking')).toEqual([]);
      sounds(1.1, 0.001, 0.009);
      await vi.advanceTimersByTimeAsync(100);
      const { visitor, agent } = told('level').at(-1) as { readonly visitor: number; readonly agent: number };
      expect([visitor, agent].map((level) => level.toFixed(2))).toEqual(['0.10', '0.30']);
      expect(told('speaking')).toEqual([{ visitor: true, agent: true }]);
      sounds(1.2, 0.001, 0.01);
      await vi.advanceTimersByTimeAsync(100);
      sounds(1.3, 0.001, 0.01);
      await vi.advanceTimersByTimeAsync(PAUSE_MS - 100);
      expect(told('speaking')).toEqual([
        { visitor: true, agent: true },
        { visitor: false, agent: true },
      ]);
    });

    test('measures the microphone itself if the browser does not, as in Firefox', async () => {
      const sources: unknown[] = [];
      const closed = vi.fn<() => Promise<void>>(() => Promise.resolve());
      class FakeContext {
        readonly close = closed;

        createAnalyser(): object {
          return { fftSize: 4, getFloatTimeDomainData: (samples: Float32Array) => samples.fill(0.2) };
        }

        createMediaStreamSource(stream: unknown): object {
          sources.push(stream);
          return { connect: () => undefined };
        }
      }
      vi.stubGlobal('AudioContext', FakeContext);
      await call();
      peer().stats = new Map([['m', { id: 'm', type: 'media-source', kind: 'audio' }]]);
      await vi.advanceTimersByTimeAsync(200);
      expect(told('level').map((level) => (level as { readonly visitor: number }).visitor.toFixed(2))).toEqual([
        '0.20',
        '0.20',
      ]);
      expect(told('speaking')).toEqual([{ visitor: true, agent: false }]);
      expect(sources).toEqual([streams[0]]);
      await session.setDevice('desk');
      await vi.advanceTimersByTimeAsync(100);
      expect(sources).toEqual([streams[0], streams[0]]);
      await session.end();
      expect(closed).toHaveBeenCalledOnce();
    });

    test('is silent once its call is over', async () => {
      await call();
      sounds(1, 0.1, 0);
      await vi.advanceTimersByTimeAsync(100);
      peer().become('failed');
      expect(told('speaking')).toEqual([
        { visitor: true, agent: false },
        { visitor: false, agent: false },
      ]);
      const before = told('level').length;
      await vi.advanceTimersByTimeAsync(1000);
      expect(told('level')).toHaveLength(before);
    });

    test('ignores what the browser measured while the call was lost', async () => {
      await call();
      let answer: (report: FakePeer['stats']) => void = () => undefined;
      peer().getStats = () => new Promise((resolve) => (answer = resolve));
      await vi.advanceTimersByTimeAsync(100);
      peer().become('failed');
      sounds(1, 0.1, 0.1);
      answer(peer().stats);
      await vi.advanceTimersByTimeAsync(0);
      expect([...told('level'), ...told('speaking')]).toEqual([]);
    });

    test('reports nothing more once the session is over', async () => {
      await call();
      sounds(1, 0.1, 0);
      await vi.advanceTimersByTimeAsync(100);
      await expect(session.reportUsage({ tokens: 1 })).rejects.toMatchObject({ code: 'DAILY_QUOTA_EXCEEDED' });
      expect(events.at(-1)?.type).toBe('ended');
    });

    test('can be muted and unmuted, in this call and the next', async () => {
      await call();
      const isHeard = (): unknown => streams.at(-1)?.tracks.map(({ enabled }) => enabled);
      session.mute();
      expect([session.muted, isHeard()]).toEqual([true, [false]]);
      await session.connectAudio();
      expect([streams.length, isHeard()]).toEqual([2, [false]]);
      session.mute(false);
      expect([session.muted, isHeard()]).toEqual([false, [true]]);
    });

    test('can be muted before its call', async () => {
      const { connect } = await loadSdk();
      session = await connect({
        baseUrl: 'https://s.example',
        audio: true,
        fetch: () => Promise.resolve(Response.json(created)),
      });
      session.mute();
      expect(streams[0]?.tracks[0]?.enabled).toBe(false);
    });

    test('goes on with another microphone, still muted', async () => {
      await call({ audio: { echoCancellation: true } });
      session.mute();
      await session.setDevice('desk');
      expect(asked).toEqual([
        { audio: { echoCancellation: true } },
        { audio: { echoCancellation: true, deviceId: { exact: 'desk' } } },
      ]);
      const [first, second] = streams;
      const track = second?.tracks[0];
      expect(peer().track).toBe(track);
      expect(track).toMatchObject({ readyState: 'live', enabled: false });
      expect(first?.tracks).toEqual([track]);
      track?.dispatchEvent(new Event('ended'));
      expect(told('media').at(-1)).toMatchObject({ state: 'lost', error: { code: 'MICROPHONE_LOST' } });
      expect(track?.readyState).toBe('ended');
      await session.connectAudio();
      expect(asked.at(-1)).toEqual({ audio: { echoCancellation: true, deviceId: { exact: 'desk' } } });
    });

    test('leaves a stream of the page’s own open, and uses the microphone for the next call', async () => {
      await call();
      const given = new FakeStream();
      const [track] = given.tracks;
      await session.connectAudio({ stream: given });
      await session.setDevice('desk');
      expect(given.tracks).toEqual([track]);
      expect(peer().track).toBe(track);
      session.mute();
      expect(track?.enabled).toBe(false);
      await session.connectAudio();
      expect(asked.at(-1)).toEqual({ audio: { deviceId: { exact: 'desk' } } });
      expect(track?.readyState).toBe('live');
    });

    test('releases a microphone that arrives after the call is over', async () => {
      await call();
      const choosing = session.setDevice('desk');
      await session.end();
      await choosing;
      expect(streams.map(({ active }) => active)).toEqual([false, false]);
    });

    test('lists the available microphones', async () => {
      await call();
      expect(await session.devices()).toEqual([{ kind: 'audioinput', deviceId: 'a' }]);
    });
  });
});
