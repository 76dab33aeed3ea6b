import type { deadline } from '../kernel/deadline.ts';
import { asEvent, readError, readFrame, type CallFrame } from './call-frame.ts';
import type { CallSocket } from './call-socket.ts';
import { CallOver, UpstreamFault, type Sideband, type SidebandEnd, type UpstreamEvent } from './contract.ts';
import { eventsOf, transcriberOf } from './realtime-events.ts';
import { describeLimit, describeRestoration, type CallSetup } from './realtime-session.ts';

export interface RealtimeSidebandOptions {
  /** The provider as our words call it. */
  readonly title: string;
  readonly setup: CallSetup;
  readonly hear: (event: UpstreamEvent) => void;
  readonly after: typeof deadline;
}

interface AttachOptions extends RealtimeSidebandOptions {
  readonly signal: AbortSignal;
  /** Milliseconds until events are heard. */
  readonly timeoutMs: number;
}

const QUIETEN_MS = 400;

/** What our own events are called, so that errors that name them are known for answers to them. */
const UPDATE = 'sb_update';
const CANCEL = 'sb_cancel';

const ignore = (): void => undefined;

/**
 * Makes a connection to a call of OpenAI's realtime API hear the call. The provider says nothing on it by itself, so the answer to an
 * update of the session that changes nothing shows that it listens.
 * @throws CallOver, UpstreamFault; then the connection is closed
 */
export async function attachToRealtime(socket: CallSocket, options: AttachOptions): Promise<Sideband> {
  const { title, signal, after, timeoutMs } = options;
  const sideband = new RealtimeSideband(socket, options);
  let callOff = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => reject(new UpstreamFault('timeout', `${title} did not confirm an update in time`));
      const stop = after(timeoutMs, giveUp);
      signal.addEventListener('abort', giveUp);
      callOff = () => {
        stop();
        signal.removeEventListener('abort', giveUp);
      };
      if (signal.aborted) giveUp();
      sideband.begin(resolve, reject);
    });
    return sideband;
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    callOff();
  }
}

class RealtimeSideband implements Sideband {
  readonly closed: Promise<SidebandEnd>;
  readonly #socket: CallSocket;
  readonly #options: RealtimeSidebandOptions;
  #maxOutputTokens: number | undefined;
  /** Our own updates of the session that are not answered yet: each is answered once. */
  #unanswered = 0;
  #transcriber: string | undefined;
  #isOver = false;
  #onReady: () => void = ignore;
  #onRefused: (error: Error) => void = ignore;
  #onQuiet: () => void = ignore;

  constructor(socket: CallSocket, options: RealtimeSidebandOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#maxOutputTokens = options.setup.maxOutputTokens;
    this.closed = socket.closed;
    void this.closed.then(() =>
      this.#onRefused(new UpstreamFault('unreachable', `${options.title} closed the connection`)),
    );
    socket.onFrame = (text) => this.#receive(text);
  }

  begin(ready: () => void, refused: (error: Error) => void): void {
    this.#onReady = () => {
      // A call lives long: nothing of its beginning is kept.
      this.#onReady = ignore;
      this.#onRefused = ignore;
      this.#options.hear({ type: 'ready' });
      ready();
    };
    this.#onRefused = refused;
    this.#update({ type: 'realtime', ...describeLimit(this.#maxOutputTokens) });
  }

  limitResponses(maxOutputTokens: number): void {
    this.#maxOutputTokens = maxOutputTokens;
    this.#update({ type: 'realtime', ...describeLimit(maxOutputTokens) });
  }

  restoreConfig(): void {
    this.#update(describeRestoration({ ...this.#options.setup, maxOutputTokens: this.#maxOutputTokens }));
  }

  quieten(): Promise<boolean> {
    return new Promise((resolve) => {
      const callOff = this.#options.after(QUIETEN_MS, () => resolve(false));
      const answer = (isHeard: boolean): void => {
        callOff();
        resolve(isHeard);
      };
      this.#onQuiet = () => answer(true);
      void this.closed.then(() => answer(false));
      this.#socket.send({ type: 'response.cancel', event_id: CANCEL });
    });
  }

  close(): void {
    this.#socket.close();
  }

  #update(session: object): void {
    this.#unanswered += 1;
    this.#socket.send({ type: 'session.update', event_id: UPDATE, session });
  }

  #receive(text: string): void {
    if (this.#isOver) return;
    const frame = readFrame(text);
    if (frame === undefined) return this.#tell({ type: 'trouble', code: 'garbage_frame' });
    if (frame.type === 'session.updated') return this.#noteUpdated(frame);
    if (frame.type === 'error') return this.#noteError(frame);
    for (const event of eventsOf(frame, this.#transcriber)) this.#tell(event);
    if (frame.type === 'response.done') this.#onQuiet();
  }

  #noteUpdated(frame: CallFrame): void {
    this.#transcriber = transcriberOf(frame);
    if (this.#unanswered === 0) return this.#tell({ type: 'configChanged' });
    this.#unanswered -= 1;
    this.#onReady();
  }

  #noteError(frame: CallFrame): void {
    const { code, eventId } = readError(frame);
    // Nothing was being said.
    if (eventId === CANCEL) return this.#onQuiet();
    if (eventId === UPDATE) {
      this.#unanswered = Math.max(0, this.#unanswered - 1);
      const { title } = this.#options;
      this.#onRefused(new UpstreamFault('refused', `${title} refused an update of the session`, { code }));
    }
    this.#tell(asEvent(code));
    if (this.#isOver) this.#onRefused(new CallOver());
  }

  #tell(event: UpstreamEvent): void {
    if (event.type === 'over') this.#isOver = true;
    this.#options.hear(event);
  }
}
