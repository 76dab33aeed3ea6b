import type { deadline } from '../kernel/async.ts';
import { keepNewest } from '../kernel/collections.ts';
import { asEvent, readError, readFrame, type CallFrame, type CallSocket } from './call-socket.ts';
import {
  CallOver,
  UpstreamFault,
  type NewItem,
  type Sideband,
  type SidebandEnd,
  type UpstreamEvent,
} from './contract.ts';
import { conversationEvents } from './realtime-conversation.ts';
import { eventsOf, transcriberOf } from './realtime-events.ts';
import {
  differingFields,
  isAsSdk,
  spellingOf,
  toldSession,
  toldTokens,
  describeItem,
  describeLimit,
  describeRestoration,
  describeSpeed,
  type ToldSession,
  type CallSetup,
} from './realtime-session.ts';

export interface RealtimeSidebandOptions {
  /** The provider's name in our messages. */
  readonly title: string;
  readonly setup: CallSetup;
  /** The call was open before, and its page may have changed it: its setup is restored first. */
  readonly isPutBack: boolean;
  /** The call was open before, so what its agent said may still be played. */
  readonly mayBeSpeaking: boolean;
  /** How the provider reported the call before its page could change it, where that is known: see `spellingOf`. */
  readonly asCreated: ToldSession | undefined;
  /** Is called with that, once. */
  readonly noteAsCreated: (spelling: ToldSession) => void;
  readonly hear: (event: UpstreamEvent) => void;
  readonly after: typeof deadline;
}

interface AttachOptions extends RealtimeSidebandOptions {
  readonly signal: AbortSignal;
  /** Milliseconds until events must be heard. */
  readonly timeoutMs: number;
}

/** Ids of our own events, by which errors that answer them are recognised. */
const UPDATE = 'sb_update';
const CANCEL = 'sb_cancel';
const ASK = 'sb_ask';
const COMMIT = 'sb_commit';
/** The error for committing less than a tenth of a second of audio. */
const NOTHING_SAID = 'input_audio_buffer_commit_empty';
/** The error of a provider that makes only one response of a conversation at a time. */
const BUSY = 'conversation_already_has_active_response';
/** Cancels whose answers are waited for; an older one is answered by the end of its response, or never. */
const MAX_CANCELS = 100;

const ignore = (): void => undefined;

/**
 * Starts hearing a call of OpenAI's realtime API on a connection. The provider says nothing on it unprompted, so we send an update of the session
 * that changes nothing: its answer shows that the provider listens.
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
  /** The highest of our limits that may still apply: while a change is on its way, either may. */
  #grantedTokens = Infinity;
  /** Our own session updates that are not answered yet: each is answered once. */
  #unanswered = 0;
  #transcriber: string | undefined;
  #asCreated: ToldSession | undefined;
  #isChanged = false;
  /** Responses that we asked to end, by the ids of our events; undefined for whichever is running in the conversation. */
  readonly #cancels = new Map<string, string | undefined>();
  #cancelled = 0;
  /** The last response that was asked for: there is one at a time. */
  #asked: { readonly eventId: string; readonly instructions: string | null } | undefined;
  #asks = 0;
  /** Commits that are not answered yet: each is answered once. */
  #commits = 0;
  /** What the agent said is being played, as far as we know. */
  #isAgentHeard: boolean;
  #isOver = false;
  #onReady: () => void = ignore;
  #onRefused: (error: Error) => void = ignore;

  constructor(socket: CallSocket, options: RealtimeSidebandOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#maxOutputTokens = options.setup.maxOutputTokens;
    this.#isAgentHeard = options.mayBeSpeaking;
    this.#asCreated = options.asCreated;
    this.closed = socket.closed;
    void this.closed.then(() =>
      this.#onRefused(new UpstreamFault('unreachable', `${options.title} closed the connection`)),
    );
    socket.listen((text) => this.#receive(text));
  }

  begin(ready: () => void, refused: (error: Error) => void): void {
    this.#onReady = () => {
      // A call lives long: release what was only needed at its beginning.
      this.#onReady = ignore;
      this.#onRefused = ignore;
      this.#options.hear({ type: 'ready' });
      ready();
    };
    this.#onRefused = refused;
    if (this.#options.isPutBack) this.restoreConfig();
    else this.#update({ type: 'realtime', ...describeLimit(this.#maxOutputTokens) });
  }

  limitResponses(maxOutputTokens: number): void {
    this.#grantedTokens = Math.max(this.#grantedTokens, maxOutputTokens);
    this.#maxOutputTokens = maxOutputTokens;
    this.#update({ type: 'realtime', ...describeLimit(maxOutputTokens) });
  }

  restoreConfig(): void {
    this.#update(describeRestoration(this.#setup));
    const speed = describeSpeed(this.#setup);
    if (speed !== undefined) this.#update(speed);
  }

  cancelResponse(id: string | undefined): void {
    const event_id = `${CANCEL}_${(this.#cancelled += 1)}`;
    keepNewest(this.#cancels.set(event_id, id), MAX_CANCELS);
    this.#socket.send({ type: 'response.cancel', event_id, ...(id === undefined ? {} : { response_id: id }) });
  }

  addItem(item: NewItem): void {
    this.#socket.send({ type: 'conversation.item.create', item: describeItem(item) });
  }

  deleteItem(id: string): void {
    this.#socket.send({ type: 'conversation.item.delete', item_id: id });
  }

  createResponse(instructions: string | null): void {
    const eventId = `${ASK}_${(this.#asks += 1)}`;
    this.#asked = { eventId, instructions };
    const response = instructions === null ? {} : { response: { instructions } };
    this.#socket.send({ type: 'response.create', event_id: eventId, ...response });
  }

  clearInput(): void {
    this.#socket.send({ type: 'input_audio_buffer.clear' });
  }

  commitInput(): void {
    this.#commits += 1;
    this.#socket.send({ type: 'input_audio_buffer.commit', event_id: COMMIT });
  }

  clearSpeech(): void {
    if (this.#isAgentHeard) this.#socket.send({ type: 'output_audio_buffer.clear' });
  }

  close(): void {
    this.#socket.close();
  }

  /** What the call should be by now. */
  get #setup(): CallSetup {
    return { ...this.#options.setup, maxOutputTokens: this.#maxOutputTokens };
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
    if (frame.type === 'input_audio_buffer.committed') return this.#noteCommitted();
    for (const event of eventsOf(frame, this.#transcriber, this.#grantedTokens)) this.#tell(event);
    for (const event of conversationEvents(frame)) {
      if (event.type === 'speech' && event.who === 'agent') this.#isAgentHeard = event.isOn;
      this.#tell(event);
    }
  }

  /** Whoever changed the session, only its present state counts. */
  #noteUpdated(frame: CallFrame): void {
    this.#transcriber = transcriberOf(frame);
    this.#unanswered = Math.max(0, this.#unanswered - 1);
    const told = toldSession(frame);
    if (!this.#options.isPutBack && this.#asCreated === undefined) {
      this.#asCreated = spellingOf(told, this.#setup);
      this.#options.noteAsCreated(this.#asCreated);
    }
    this.#noteBound(toldTokens(told));
    this.#onReady();
    const isChanged = differingFields(told, this.#setup, this.#asCreated, this.#grantedTokens).length > 0;
    if (isChanged === this.#isChanged) return;
    this.#isChanged = isChanged;
    this.#tell(isChanged ? { type: 'configChanged', isAsSdk: isAsSdk(told, this.#setup) } : { type: 'configRestored' });
  }

  /** Once the current limit is reported, earlier ones no longer apply. @param told 0 where the provider reports none */
  #noteBound(told: number): void {
    const { maxOutputTokens } = this.#setup;
    const holds = told === 0 ? this.#unanswered === 0 : told <= (maxOutputTokens ?? Infinity);
    if (holds) this.#grantedTokens = maxOutputTokens ?? Infinity;
  }

  /** The provider's own turn detection, and pages with a data channel, commit as well. */
  #noteCommitted(): void {
    this.#tell({ type: 'words' });
    if (this.#commits === 0) return;
    this.#commits -= 1;
    this.#tell({ type: 'inputCommitted' });
  }

  #noteError(frame: CallFrame): void {
    const { code, eventId = '' } = readError(frame);
    if (eventId.startsWith(CANCEL)) return this.#noteEnded(eventId);
    if (eventId === COMMIT) {
      this.#commits = Math.max(0, this.#commits - 1);
      if (code === NOTHING_SAID) return;
    }
    if (this.#asked !== undefined && eventId === this.#asked.eventId) {
      const isBusy = code === BUSY;
      this.#tell({ type: 'responseRefused', isBusy, instructions: this.#asked.instructions });
      if (isBusy) return;
    }
    if (eventId === UPDATE) {
      this.#unanswered = Math.max(0, this.#unanswered - 1);
      const { title } = this.#options;
      this.#onRefused(new UpstreamFault('refused', `${title} refused an update of the session`, { code }));
    }
    this.#tell(asEvent(code));
    if (this.#isOver) this.#onRefused(new CallOver());
  }

  /** What we asked to end had already ended. */
  #noteEnded(eventId: string): void {
    if (!this.#cancels.has(eventId)) return;
    const id = this.#cancels.get(eventId);
    this.#cancels.delete(eventId);
    this.#tell(id === undefined ? { type: 'conversationIdle' } : { type: 'responseDone', id, isTold: false });
  }

  #tell(event: UpstreamEvent): void {
    if (event.type === 'over') this.#isOver = true;
    this.#options.hear(event);
  }
}
