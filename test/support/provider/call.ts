import type { WebSocket } from 'ws';
import { TestResponse, type Generation, type ResponseTerms } from './responses.ts';
import {
  audioClear,
  clientEvent,
  inputClear,
  inputCommit,
  itemCreate,
  itemDelete,
  pageUpdate,
  responseCancel,
  responseCreate,
  sessionDefaults,
  sessionUpdate,
} from './schemas.ts';

type Json = Record<string, unknown>;

export interface CallTerms {
  readonly id: string;
  readonly api: 'realtime' | 'live';
  /** The credential that owns the call: no other one can hear or end it. */
  readonly credential: string;
  readonly session: Json;
  readonly offer: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The path and query of the request that created the call. */
  readonly url: string;
  /** Fields of a session that are refused or ignored. */
  readonly dropped?: ReadonlyMap<string, 'refused' | 'ignored'>;
}

const LONG_RESPONSE_TOKENS = 200;
/** Audio shorter than this cannot become a turn. */
const MIN_INPUT_MS = 100;

let ids = 0;
const nextId = (prefix: string): string => `${prefix}_${String((ids += 1)).padStart(8, '0')}`;

/** One call at the stand-in for a provider, as it really is. */
export class TestCall {
  readonly terms: CallTerms;
  readonly createdAtMs = Date.now();
  /** The current configuration of the session. */
  session: Json;
  readonly sidebands = new Set<WebSocket>();
  /** How many sidebands were attached so far. */
  attached = 0;
  /** The status with which each hang-up was answered. */
  readonly hangups: number[] = [];
  /** Called with each hang-up, before it is answered. */
  onHangUp: () => void = () => undefined;
  /** Events that a sideband receives together with its acceptance. */
  readonly toldAtOnce: Json[] = [];
  /** Events received over sidebands. */
  readonly heard: Json[] = [];
  /** The usage that the provider bills for each response. */
  readonly billed: { readonly id: string; readonly usage: unknown; readonly atMs: number }[] = [];
  /** Seconds that the live API bills; undefined: those that have passed, but at least 15. */
  seconds: number | undefined;
  ended: { readonly reason: string; readonly atMs: number } | undefined;
  /** Whether session updates, and closes of the live API, are confirmed. */
  answers = true;
  /** How fast responses run that a page asks for; undefined: they run until a test ends them. */
  generation: Generation | undefined;
  /** Whether the end of a cancelled response reports its usage. */
  tellsCancelledUsage = true;
  /** Whether the usage that the end of a response reports can be read. */
  tellsReadableUsage = true;
  /** Milliseconds of the visitor's audio that are not yet part of a turn. */
  inputMs = 0;
  /** Whether the agent's audio is played to the page, as over WebRTC; the events about playback are then sent automatically. */
  isPlayed = false;
  /** How many milliseconds were played of audio that is cut off. */
  playedMs = 0;
  /** What is being played, which may go on after the response has ended. */
  #playing: { readonly response_id: string; readonly item_id: string } | undefined;
  /** Events that the provider sends to the page only. */
  readonly toPage: Json[] = [];
  /** Receives every event, as the page's data channel does. */
  onPageEvent: (event: Json) => void = () => undefined;
  readonly #items = new Set<string>();
  readonly #open = new Map<string, TestResponse>();

  constructor(terms: CallTerms) {
    this.terms = terms;
    this.session = terms.api === 'live' ? { ...terms.session } : { ...sessionDefaults, ...terms.session };
  }

  /** The ids of running responses. */
  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  get id(): string {
    return this.terms.id;
  }

  /** Sends an event to all sidebands and to the page's data channel. */
  emit(event: Json): void {
    const told = { event_id: nextId('event'), ...event };
    this.emitRaw(JSON.stringify(told));
    this.onPageEvent(told);
  }

  emitRaw(data: string | Buffer): void {
    for (const sideband of this.sidebands) sideband.send(data);
  }

  /** The visitor starts to speak, which cuts off playback. */
  speechStarted(): void {
    this.emit({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: nextId('item') });
    if (this.#playing === undefined) return;
    this.#cutPlaying();
    const running = this.#inConversation;
    if (running !== undefined) this.finishResponse('cancelled', running);
  }

  /** Sends more of the transcript of what is being played. */
  say(delta: string): void {
    if (this.#playing !== undefined)
      this.emit({
        type: 'response.output_audio_transcript.delta',
        ...this.#playing,
        output_index: 0,
        content_index: 0,
        delta,
      });
  }

  /** Playback reaches the end of what was said. */
  playOut(): void {
    const playing = this.#playing;
    this.#playing = undefined;
    if (playing !== undefined) this.emit({ type: 'output_audio_buffer.stopped', response_id: playing.response_id });
  }

  #play(response_id: string): void {
    const item_id = nextId('item');
    this.#playing = { response_id, item_id };
    const item = {
      id: item_id,
      object: 'realtime.item',
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    };
    this.emit({ type: 'response.output_item.added', response_id, output_index: 0, item });
    const part = { type: 'audio', transcript: '' };
    this.emit({ type: 'response.content_part.added', response_id, item_id, output_index: 0, content_index: 0, part });
    this.emit({ type: 'output_audio_buffer.started', response_id });
  }

  #cutPlaying(): void {
    const playing = this.#playing;
    this.#playing = undefined;
    if (playing === undefined) return;
    const { item_id, response_id } = playing;
    this.emit({ type: 'conversation.item.truncated', item_id, content_index: 0, audio_end_ms: this.playedMs });
    this.emit({ type: 'output_audio_buffer.cleared', response_id });
  }

  /** Begins a response, billed when it is done. @param usage undefined: none is reported, or `generation` determines it */
  beginResponse(usage: unknown, id = nextId('resp'), terms: Partial<ResponseTerms> = {}): string {
    const { max_output_tokens: limit = 'inf', output_modalities: modalities = ['audio'] } = this.session;
    const response = new TestResponse(
      {
        id,
        usage,
        conversationId: `conv_${this.id}`,
        maxOutputTokens: limit as number | 'inf',
        modalities: modalities as string[],
        ...terms,
      },
      usage === undefined ? this.generation : undefined,
      { said: (event) => this.emit(event), done: () => this.finishResponse('completed', id) },
    );
    this.#open.set(id, response);
    this.emit({ type: 'response.created', response: response.describe('in_progress') });
    if (this.isPlayed && response.terms.modalities.includes('audio')) this.#play(id);
    return id;
  }

  /** @param id by default the response that began last */
  finishResponse(status = 'completed', id = this.open.at(-1), output: readonly object[] = []): void {
    const response = this.#open.get(id ?? '');
    if (response === undefined) return;
    const usage = this.#bill(response);
    const isTold = status !== 'cancelled' || this.tellsCancelledUsage;
    const told = this.tellsReadableUsage ? usage : { input_tokens: -1 };
    const described = response.describe(status, isTold ? (told ?? null) : null);
    this.emit({ type: 'response.done', response: { ...described, output } });
  }

  /** The agent asks for a tool at the end of the running response, or in a new one. */
  askForTool(callId: string, name: string): void {
    const id = this.open.at(-1) ?? this.beginResponse(undefined);
    const asked = { type: 'function_call', id: nextId('item'), call_id: callId, name, arguments: '{}' };
    this.finishResponse('completed', id, [asked]);
  }

  #bill(response: TestResponse): unknown {
    const { usage } = response;
    response.stop();
    this.#open.delete(response.terms.id);
    this.billed.push({ id: response.terms.id, usage, atMs: Date.now() });
    return usage;
  }

  /** Begins and finishes a response. @returns its id */
  respond(usage: unknown, id?: string): string {
    const name = this.beginResponse(usage, id);
    this.finishResponse('completed', name);
    return name;
  }

  /** The visitor has said something: the agent answers unless it is already answering. */
  answerVisitor(): void {
    if (this.ended === undefined && this.#inConversation === undefined) this.beginResponse(undefined);
  }

  /** Handles an event from the page's data channel; a refusal goes to the page only. */
  fromPage(event: Json): void {
    if (this.ended !== undefined) return;
    const { event_id = null } = event;
    const refuse = (code: string, message: string): void => {
      const error = { type: 'error', error: { type: 'invalid_request_error', code, message, event_id } };
      this.toPage.push(error);
      this.onPageEvent(error);
    };
    if (event['type'] === 'session.update') {
      const update = pageUpdate.safeParse(event);
      if (!update.success) return refuse('unknown_parameter', update.error.message);
      const { audio = {}, model: _, ...changes } = update.data.session;
      const before = (this.session['audio'] ?? {}) as { readonly input?: object; readonly output?: object };
      const merged = { input: { ...before.input, ...audio.input }, output: { ...before.output, ...audio.output } };
      return this.updateFromPage({ ...changes, audio: merged });
    }
    this.#take(event, refuse);
  }

  /** The page changes the session through its data channel. */
  updateFromPage(change: Json): void {
    Object.assign(this.session, change);
    this.#tellUpdated();
  }

  /** Reports the live API's cumulative total of seconds. */
  tellSeconds(seconds: number): void {
    this.seconds = seconds;
    this.emit({ type: 'session.usage.updated', usage: { seconds } });
  }

  /** Ends the call; sidebands are closed cleanly. */
  end(reason: string): void {
    if (this.ended !== undefined) return;
    this.ended = { reason, atMs: Date.now() };
    for (const response of this.#open.values()) this.#bill(response);
    if (this.terms.api === 'live')
      this.emit({ type: 'session.closed', reason, usage: { seconds: this.billedSeconds } });
    this.closeSidebands();
  }

  get billedSeconds(): number {
    return this.seconds ?? Math.max(15, (Date.now() - this.createdAtMs) / 1000);
  }

  /** The provider ends the call because it has reached its maximum duration, and says so in an error. */
  expire(): void {
    const message = 'Your session hit the maximum duration of 60 minutes.';
    if (this.terms.api === 'realtime')
      this.emit({ type: 'error', error: { type: 'invalid_request_error', code: 'session_expired', message } });
    this.end('expired');
  }

  /** Closes the sidebands cleanly while the call goes on. */
  closeSidebands(code = 1000): void {
    for (const sideband of this.sidebands) sideband.close(code);
  }

  /** Breaks the sidebands' connections without a close frame. */
  breakSidebands(): void {
    for (const sideband of this.sidebands) sideband.terminate();
  }

  /** Stops reading, pings included, as a peer whose network is gone. */
  stall(): void {
    for (const sideband of this.sidebands) sideband.pause();
  }

  attach(sideband: WebSocket): void {
    this.attached += 1;
    this.sidebands.add(sideband);
    sideband.on('close', () => this.sidebands.delete(sideband));
    sideband.on('error', () => undefined);
    sideband.on('message', (data: Buffer) => this.#receive(sideband, data.toString('utf8')));
    for (const event of this.toldAtOnce) sideband.send(JSON.stringify(event));
  }

  #receive(sideband: WebSocket, text: string): void {
    const event = clientEvent.parse(JSON.parse(text));
    this.heard.push(event);
    const refuse = (code: string, message: string): void =>
      sideband.send(
        JSON.stringify({
          type: 'error',
          error: { type: 'invalid_request_error', code, message, event_id: event.event_id ?? null },
        }),
      );
    if (!this.answers) return;
    switch (`${this.terms.api} ${event.type}`) {
      case 'realtime session.update': {
        const update = sessionUpdate.safeParse(event);
        if (!update.success) return refuse('unknown_parameter', update.error.message);
        const unknown = Object.keys(update.data.session).find((name) => this.terms.dropped?.get(name) === 'refused');
        if (unknown !== undefined) return refuse('unknown_parameter', `Unknown ${unknown}.`);
        const { audio = {}, ...asked } = update.data.session;
        const changes = Object.fromEntries(
          Object.entries(asked).filter(([name]) => this.terms.dropped?.has(name) !== true),
        );
        if (audio.output?.speed !== undefined && this.#open.size > 0)
          return refuse('invalid_value', 'Cannot change the speed while a response is in progress.');
        const before = (this.session['audio'] ?? {}) as { readonly input?: object; readonly output?: object };
        const merged = { input: { ...before.input, ...audio.input }, output: { ...before.output, ...audio.output } };
        Object.assign(this.session, changes, update.data.session.audio === undefined ? {} : { audio: merged });
        return this.#tellUpdated();
      }
      case 'realtime response.create':
      case 'realtime response.cancel':
      case 'realtime conversation.item.create':
      case 'realtime conversation.item.delete':
      case 'realtime output_audio_buffer.clear':
      case 'realtime input_audio_buffer.clear':
      case 'realtime input_audio_buffer.commit':
        return this.#take(event, refuse);
      case 'live session.close':
        return this.end('close_requested');
      default:
        return refuse('unknown_event', `Unknown event ${event.type}.`);
    }
  }

  /** Handles the events that both pages and sidebands may send. */
  #take(event: Json, refuse: (code: string, message: string) => void): void {
    switch (event['type']) {
      case 'response.create':
        return this.#create(event, refuse);
      case 'response.cancel':
        return this.#cancel(event, refuse);
      case 'conversation.item.create': {
        const asked = itemCreate.safeParse(event);
        if (!asked.success) return refuse('unknown_parameter', asked.error.message);
        const item = { id: nextId('item'), object: 'realtime.item', status: 'completed', ...asked.data.item };
        if (this.#items.has(item.id)) return refuse('item_already_exists', `Item ${item.id} already exists.`);
        this.#items.add(item.id);
        for (const type of ['conversation.item.added', 'conversation.item.done'])
          this.emit({ type, previous_item_id: null, item });
        return;
      }
      case 'conversation.item.delete': {
        const asked = itemDelete.safeParse(event);
        if (!asked.success) return refuse('unknown_parameter', asked.error.message);
        const { item_id } = asked.data;
        if (!this.#items.delete(item_id)) return refuse('item_not_found', `There is no item ${item_id}.`);
        return this.emit({ type: 'conversation.item.deleted', item_id });
      }
      case 'input_audio_buffer.clear': {
        const asked = inputClear.safeParse(event);
        if (!asked.success) return refuse('unknown_parameter', asked.error.message);
        this.inputMs = 0;
        return this.emit({ type: 'input_audio_buffer.cleared' });
      }
      case 'input_audio_buffer.commit': {
        const asked = inputCommit.safeParse(event);
        if (!asked.success) return refuse('unknown_parameter', asked.error.message);
        return this.#commit(refuse);
      }
      case 'output_audio_buffer.clear': {
        const asked = audioClear.safeParse(event);
        if (!asked.success) return refuse('unknown_parameter', asked.error.message);
        if (this.isPlayed) return this.#cutPlaying();
        return this.emit({ type: 'output_audio_buffer.cleared', response_id: nextId('resp') });
      }
      default:
        return refuse('unknown_event', `Unknown event ${String(event['type'])}.`);
    }
  }

  /** Turns the visitor's audio into a turn, without starting a response. */
  #commit(refuse: (code: string, message: string) => void): void {
    const { inputMs } = this;
    if (inputMs < MIN_INPUT_MS)
      return refuse(
        'input_audio_buffer_commit_empty',
        `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${inputMs.toFixed(2)}ms of audio.`,
      );
    this.inputMs = 0;
    const id = nextId('item');
    this.#items.add(id);
    this.emit({ type: 'input_audio_buffer.committed', previous_item_id: null, item_id: id });
    const content = [{ type: 'input_audio', transcript: null }];
    const item = { id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content };
    for (const type of ['conversation.item.added', 'conversation.item.done'])
      this.emit({ type, previous_item_id: null, item });
  }

  /** Starts a response: any number may run outside the conversation, but only one in it. */
  #create(event: Json, refuse: (code: string, message: string) => void): void {
    const asked = responseCreate.safeParse(event);
    if (!asked.success) return refuse('unknown_parameter', asked.error.message);
    const { conversation, max_output_tokens, output_modalities } = asked.data.response ?? {};
    const isBeside = conversation === 'none';
    if (!isBeside && this.#inConversation !== undefined)
      return refuse('conversation_already_has_active_response', 'Conversation already has an active response.');
    const terms = {
      ...(isBeside ? { conversationId: null } : {}),
      ...(max_output_tokens === undefined ? {} : { maxOutputTokens: max_output_tokens }),
      ...(output_modalities === undefined ? {} : { modalities: output_modalities }),
    };
    if (this.generation !== undefined) this.beginResponse(undefined, undefined, terms);
    else this.#writeMuch(terms);
  }

  #cancel(event: Json, refuse: (code: string, message: string) => void): void {
    const asked = responseCancel.safeParse(event);
    if (!asked.success) return refuse('unknown_parameter', asked.error.message);
    const id = asked.data.response_id ?? this.#inConversation;
    if (id === undefined || !this.#open.has(id))
      return refuse('response_cancel_not_active', 'Cancellation failed: no active response found');
    return this.finishResponse('cancelled', id);
  }

  get #inConversation(): string | undefined {
    return [...this.#open.values()].find(({ terms }) => terms.conversationId !== null)?.terms.id;
  }

  /** A long response, cut short where its token limit is lower. */
  #writeMuch(terms: Partial<ResponseTerms>): void {
    const limit = terms.maxOutputTokens ?? this.session['max_output_tokens'];
    const isShort = typeof limit === 'number' && limit < LONG_RESPONSE_TOKENS;
    const output_tokens = isShort ? limit : LONG_RESPONSE_TOKENS;
    const usage = { total_tokens: 10 + output_tokens, input_tokens: 10, output_tokens };
    const id = this.beginResponse(usage, undefined, terms);
    if (isShort) this.finishResponse('incomplete', id);
  }

  /** The whole session, as events repeat it. */
  describeSession(): Json {
    return { object: 'realtime.session', ...this.session };
  }

  #tellUpdated(): void {
    this.emit({ type: 'session.updated', session: this.describeSession() });
  }
}
