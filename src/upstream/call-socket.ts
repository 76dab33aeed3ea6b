import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import type { deadline } from '../kernel/async.ts';
import { systemCode, parseJson } from '../kernel/post.ts';
import { CallOver, UpstreamFault, type SidebandEnd, type UpstreamEvent } from './contract.ts';
import { refusedUpgrade, under, word, type Account } from './provider-http.ts';

/**
 * A page can send 256 KiB in one message of its data channel, and the provider's event about it is up to three times as long once escaped. Frames of
 * that size must be readable, so that a page cannot make frames that are too long for us.
 */
const MAX_FRAME_BYTES = 1024 * 1024;
/** The code that `ws` gives a longer frame, at which it closes the connection. */
const TOO_LONG = 'ws_err_unsupported_message_length';

/** How often it is checked whether the provider was heard. After this many checks without a sign it is pinged, and one check later given up. */
const LOOK_MS = 10_000;
const LOOKS_BEFORE_PING = 6;

const AUDIO_BYTES = 2 * 1024;
const AUDIO_TYPE = /"type":\s?"[\w.]*_audio\.\w+"/;
const TYPE_BYTES = 200;

/** Close codes about the server, not the call: it goes away, fails or is restarted. */
const SERVER_CODES: ReadonlySet<number> = new Set([1001, 1011, 1012, 1013, 1014]);
/** The code of a connection that ended without a close frame. */
const NO_CLOSE_FRAME = 1006;

export interface CallSocketOptions {
  /** The provider's id of the call. */
  readonly callId: string;
  readonly after: typeof deadline;
  /** Aborts the opening; an open connection is not closed by it. */
  readonly signal: AbortSignal;
  /** Hears of trouble with the connection. */
  readonly hear: (event: UpstreamEvent) => void;
}

/**
 * Connects to a call at a provider, within the time of one exchange.
 * @throws CallOver when the provider no longer knows the call, otherwise UpstreamFault
 */
export function openCallSocket(account: Account, path: string, options: CallSocketOptions): Promise<CallSocket> {
  const { title, credentials, timeoutMs, socketUrl } = account;
  const { callId, after, signal, hear } = options;
  const url = under(socketUrl, path);
  const socket = new WebSocket(url, {
    headers: credentials,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  });
  return new Promise<CallSocket>((resolve, reject) => {
    const fail = (error: Error): void => {
      settle();
      // Terminating reports an error, which is ignored.
      socket.on('error', () => undefined).terminate();
      reject(error);
    };
    const giveUp = (): void => fail(new UpstreamFault('timeout', `${title} did not answer in time`));
    const onError = (error: Error): void =>
      fail(new UpstreamFault('unreachable', `${title} could not be reached`, { detail: systemCode(error) }));
    const callOff = after(timeoutMs, giveUp);
    const settle = (): void => {
      callOff();
      signal.removeEventListener('abort', giveUp);
      socket.removeAllListeners();
    };
    signal.addEventListener('abort', giveUp);
    socket.on('error', onError);
    socket.on('unexpected-response', (_, response) => {
      void refusedUpgrade(title, response, callId, url).then(fail);
    });
    socket.on('open', () => {
      settle();
      resolve(new CallSocket(socket, after, hear));
    });
    if (signal.aborted) giveUp();
  });
}

/** Whether a call can be dialled. @throws UpstreamFault where that cannot be found out */
export async function isDialled(dial: () => Promise<{ close(): void }>): Promise<boolean> {
  try {
    (await dial()).close();
    return true;
  } catch (error) {
    if (error instanceof CallOver) return false;
    throw error;
  }
}

/**
 * A connection to a call: delivers the texts of its frames, without audio, and notices when the provider goes silent. It never throws, whatever
 * arrives.
 */
export class CallSocket {
  /** Resolves when the connection is closed, by either side. */
  readonly closed: Promise<SidebandEnd>;
  #onFrame: (text: string) => void = () => undefined;
  readonly #socket: WebSocket;
  readonly #after: typeof deadline;
  readonly #hear: (event: UpstreamEvent) => void;
  #looksInVain = 0;
  /** We closed the connection, or it failed. */
  #isLetGo = false;
  #stopLooking: () => void = () => undefined;

  constructor(socket: WebSocket, after: typeof deadline, hear: (event: UpstreamEvent) => void) {
    this.#socket = socket;
    this.#after = after;
    this.#hear = hear;
    const heard = (): void => {
      this.#looksInVain = 0;
    };
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('ping', heard).on('pong', heard);
    socket.on('error', (error) => this.#noteError((systemCode(error) ?? 'socket_error').toLowerCase()));
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => {
        this.#stopLooking();
        const isLeft = !this.#isLetGo && code !== NO_CLOSE_FRAME && !SERVER_CODES.has(code);
        resolve(isLeft ? 'left' : 'lost');
      });
    });
    this.#look();
    // Frames that arrive together with the accepted connection wait until somebody listens.
    socket.pause();
  }

  /** Delivers the text of each frame, from the first one on. */
  listen(onFrame: (text: string) => void): void {
    this.#onFrame = onFrame;
    this.#socket.resume();
  }

  send(event: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(event));
  }

  close(): void {
    // `ws` itself waits for the other side, for a limited time.
    this.#isLetGo = true;
    this.#stopLooking();
    this.#socket.close(1000);
    this.#socket.resume();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#looksInVain = 0;
    if (isBinary) return this.#tell('binary_frame');
    const frame = data as Buffer;
    if (!isAudio(frame)) this.#onFrame(frame.toString('utf8'));
  }

  #look(): void {
    this.#stopLooking = this.#after(LOOK_MS, () => {
      this.#looksInVain += 1;
      if (this.#looksInVain > LOOKS_BEFORE_PING) {
        this.#tell('half_open');
        return this.#socket.terminate();
      }
      if (this.#looksInVain === LOOKS_BEFORE_PING) this.#socket.ping();
      this.#look();
    });
  }

  #noteError(code: string): void {
    // A close frame that follows only answers ours.
    this.#isLetGo = true;
    this.#tell(code);
    if (code === TOO_LONG) this.#hear({ type: 'frameTooLong' });
  }

  #tell(code: string): void {
    this.#hear({ type: 'trouble', code });
  }
}

/** Fields into which a page can put objects of its choice (tools, metadata), or that report usage: no audio frame has them. */
const TELLING = ['"usage"', '"response"', '"session"', '"item"'];

/** Audio is never parsed. A frame that a page can make the provider send is never taken for audio. */
function isAudio(frame: Buffer): boolean {
  if (frame.length <= AUDIO_BYTES) return false;
  const ends = `${frame.toString('latin1', 0, TYPE_BYTES)} ${frame.toString('latin1', frame.length - TYPE_BYTES)}`;
  return AUDIO_TYPE.test(ends) && !TELLING.some((field) => frame.includes(field));
}

const frame = z.looseObject({ type: z.string() });
/** An event of a provider: its type and its other fields. */
export type CallFrame = z.infer<typeof frame>;

/** @returns undefined for text that is not an event */
export function readFrame(text: string): CallFrame | undefined {
  return frame.safeParse(parseJson(text)).data;
}

const errorFrame = z.object({ error: z.object({ type: word, code: word, event_id: word }) });

/** The provider's error code, and which of our events caused the error. */
export function readError(event: CallFrame): { readonly code: string; readonly eventId: string | undefined } {
  const { data } = errorFrame.safeParse(event);
  return { code: data?.error.code ?? data?.error.type ?? 'error', eventId: data?.error.event_id };
}

/** An error that the provider reports on a connection: most leave the call open. */
export function asEvent(code: string): UpstreamEvent {
  return code === 'session_expired' ? { type: 'over', reason: 'expired' } : { type: 'trouble', code };
}
