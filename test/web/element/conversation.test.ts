import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { converse, type Conversation } from '../../../src/web/element/conversation.ts';
import { FakePeer, FakeStream } from '../../support/fake-peer.ts';
import { created } from '../../support/fake-server.ts';
import { FakeWebSocket } from '../../support/fake-web-socket.ts';

describe('A conversation of the element with a locked key', () => {
  let conversation: Conversation;
  let posted: string[];
  let told: { readonly type: string; readonly code?: string; readonly text?: string | undefined }[];
  const askMicrophone = vi.fn<() => Promise<FakeStream>>();
  const refuse = Object.assign(new Error('no'), { name: 'NotAllowedError' });

  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('RTCPeerConnection', FakePeer);
    vi.stubGlobal('navigator', {
      mediaDevices: { getUserMedia: askMicrophone, addEventListener: vi.fn<() => void>() },
    });
    vi.stubGlobal(
      'AudioContext',
      class {
        createMediaStreamDestination(): object {
          return { stream: new FakeStream() };
        }

        close(): void {
          // Nobody hears it.
        }
      },
    );
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    askMicrophone.mockReset().mockImplementation(() => Promise.resolve(new FakeStream()));
    FakePeer.opened.length = 0;
    [posted, told] = [[], []];
  });

  afterEach(async () => {
    await conversation.end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  /** Begins a conversation. @param resume the token of the page before */
  async function begin(resume?: string): Promise<void> {
    const call = { mode: 'brokered', url: 'https://s.example/api/realtime/calls', dataChannel: 'none' };
    const answer = async (url: string): Promise<Response> => {
      posted.push(url.replace('https://s.example', ''));
      if (url.endsWith('/session')) return Response.json({ ...created, call, ...(resume && { resumed: true }) });
      return Response.json({ ok: true, client_secret: created.client_secret }, { status: 201 });
    };
    conversation = converse(
      {
        baseUrl: 'https://s.example',
        resume,
        fetch: answer as typeof fetch,
        WebSocket: FakeWebSocket as unknown as typeof WebSocket,
      },
      false,
      {
        change: () => undefined,
        tell: (type, event) => told.push({ type, ...(event as object) }),
        solve: (refusal) => Promise.reject(refusal),
      },
    );
    await vi.advanceTimersByTimeAsync(1);
    FakeWebSocket.opened.at(-1)?.attach();
    FakePeer.opened.at(-1)?.become('connected');
    await vi.advanceTimersByTimeAsync(1);
  }

  const socket = (): FakeWebSocket => FakeWebSocket.opened.at(-1) ?? new FakeWebSocket();
  const errors = (): unknown[] => told.filter(({ type }) => type === 'error').map(({ code, text }) => [code, text]);

  test('that goes on from another page does so in writing if this one gets no microphone, in the same session', async () => {
    askMicrophone.mockRejectedValue(refuse);
    await begin('rs_1');
    expect(conversation.state).toMatchObject({
      phase: 'live',
      isWritten: true,
      canWrite: true,
      notice: { code: 'MICROPHONE_BLOCKED' },
    });
    expect(conversation.session?.state).toBe('engaged');
    expect(posted).toEqual(['/api/session', '/api/realtime/calls']);
    conversation.send('Hello?');
    expect(socket().sent.at(-1)).toMatchObject({ type: 'say', text: 'Hello?' });
  });

  test('that goes on from another page does so before the visitor answers the question for the microphone', async () => {
    let allow: (stream: FakeStream) => void = () => undefined;
    askMicrophone.mockReturnValue(new Promise((resolve) => (allow = resolve)));
    await begin('rs_1');
    expect([posted, conversation.session?.state]).toEqual([['/api/session'], 'engaged']);
    allow(new FakeStream());
    await vi.advanceTimersByTimeAsync(1);
    expect(posted).toEqual(['/api/session', '/api/realtime/calls']);
    expect(conversation.state).toMatchObject({ isWritten: false, canWrite: true });
  });

  test('that begins here opens no session without a microphone', async () => {
    askMicrophone.mockRejectedValue(refuse);
    await begin();
    expect(posted).toEqual([]);
    expect(conversation.state).toMatchObject({ phase: 'over', error: { code: 'MICROPHONE_BLOCKED' } });
  });

  test('says why a text was not said, and which', async () => {
    await begin();
    conversation.send('Are you open?');
    const { id } = socket().sent.at(-1) ?? {};
    expect(conversation.state.notice).toBeUndefined();
    socket().hear({ type: 'error', code: 'CALL_NOT_OPEN', userMessage: 'Not now.', id });
    expect(errors()).toEqual([['CALL_NOT_OPEN', 'Are you open?']]);
    expect(conversation.state).toMatchObject({
      phase: 'live',
      notice: { code: 'CALL_NOT_OPEN', userMessage: 'Not now.' },
    });
    // The socket is away.
    socket().end(1006);
    conversation.send('Are you open?');
    expect(errors().at(-1)).toEqual(['NETWORK_ERROR', 'Are you open?']);
    expect(conversation.state).toMatchObject({ notice: { code: 'NETWORK_ERROR' } });
    await vi.advanceTimersByTimeAsync(1000);
    socket().attach();
    conversation.send('Are you open?');
    expect(conversation.state.notice).toBeUndefined();
  });
});
