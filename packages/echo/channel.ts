import type { RTCDataChannel } from 'werift';
import { makeId } from './id.ts';
import { asideOf, isRecap, wordsOf, type Item } from './words.ts';

export interface ChannelEvents {
  /** The page has updated the session, and this is how it is now. */
  readonly configured: (session: Settings) => void;
  /** The page wants the agent to stop. */
  readonly cancelled: () => void;
  /** What was said so far is discarded (`cleared`), or becomes a turn of the conversation (`committed`). */
  readonly cleared: () => void;
  readonly committed: (eventId: unknown) => void;
  /** The page wants an answer to these words. @param instructions what to say if there are no words */
  readonly asked: (words: readonly Words[], instructions: string | undefined) => void;
  /** An event of the call, whether or not its page has a channel to receive it. */
  readonly told: (event: ToldEvent) => void;
}

/** Words from the page, and whether they are a tool's answer. */
export interface Words {
  readonly text: string;
  readonly isOfTool: boolean;
}

/** A session in the form in which the API's events contain it. */
export type Settings = Readonly<Record<string, unknown>>;

/** The part of the settings that the echo understands, if a page has set it. */
interface Changes {
  readonly audio?: { readonly input?: { readonly transcription?: unknown } | null } | null;
}

/**
 * The data channel of a call. It sends the page the events of OpenAI's realtime API, and takes those that change the session, say something
 * in words, or ask for a response or stop it.
 */
export class EventChannel {
  readonly #created: Settings;
  readonly #on: ChannelEvents;
  readonly #transcribes: boolean;
  #session: Settings;
  #channel: RTCDataChannel | undefined;
  #isGreeted = false;
  /** Events of responses that began before the channel was open: a provider would still be speaking then. */
  #held: ToldEvent[] = [];
  /** Words that are not answered yet. */
  #words: Words[] = [];
  /** What to say once, if there is nothing else to answer. */
  #aside: string | undefined;

  /** @param session the settings that the call was created with @param transcribes whether they ask for a transcript of the visitor */
  constructor(session: Settings, on: ChannelEvents, transcribes = false) {
    this.#created = { type: 'realtime', object: 'realtime.session', id: makeId('sess_'), ...session };
    this.#session = this.#created;
    this.#on = on;
    this.#transcribes = transcribes;
  }

  /** Whether the session, as it is set now, asks for a transcript of the visitor. */
  get isTranscribing(): boolean {
    const { audio }: Changes = this.#session;
    const transcription = audio?.input?.transcription;
    return transcription === undefined ? this.#transcribes : transcription !== null;
  }

  open(channel: RTCDataChannel): void {
    this.#channel = channel;
    channel.onMessage.subscribe((text) => this.#hear(String(text)));
    // At this point the channel is still `connecting`.
    setImmediate(() => this.#greet());
  }

  /** Sends the first of all events, even if the page sends one before. */
  #greet(): void {
    if (this.#isGreeted) return;
    this.#isGreeted = true;
    this.tell({ type: 'session.created', session: this.#session });
    for (const event of this.#held.splice(0)) this.#send(event);
  }

  /** Reports an event to those attached, and to the page if it has a channel; a response before that is open is told once it is. */
  tell(event: ToldEvent): void {
    this.#on.told(event);
    if (this.#isGreeted) this.#send(event);
    else if (event.type.startsWith('response.')) this.#held = [...this.#held, event].slice(-MAX_HELD);
  }

  #send(event: ToldEvent): void {
    if (this.#channel?.readyState !== 'open') return;
    this.#channel.send(JSON.stringify({ event_id: makeId('event_'), ...event }));
  }

  /** Resets the session to how it was created. */
  restore(): void {
    this.#update({});
  }

  #update(changes: object): void {
    this.#session = { ...this.#created, ...changes };
    this.tell({ type: 'session.updated', session: this.#session });
  }

  #hear(text: string): void {
    this.#greet();
    this.take(parse(text));
  }

  /** Takes an event from the page or from an attached connection. */
  take(event: ClientEvent | undefined): void {
    if (event?.type === 'session.update') {
      this.#update(event.session ?? {});
      this.#on.configured(this.#session);
    } else if (event?.type === 'response.cancel') this.#on.cancelled();
    else if (event?.type === 'response.create') {
      const aside = this.#aside === undefined ? undefined : `Say exactly: ${this.#aside}`;
      this.#aside = undefined;
      this.#on.asked(this.#words.splice(0), event.response?.instructions ?? aside);
    } else if (event?.type === 'input_audio_buffer.clear') this.#on.cleared();
    else if (event?.type === 'input_audio_buffer.commit') this.#on.committed(event.event_id);
    else if (event?.type === 'conversation.item.delete' || event?.type === 'output_audio_buffer.clear') return;
    else if (event?.type !== 'conversation.item.create' || !this.#take(event.item ?? {})) this.#refuse(event);
  }

  #take(item: Item): boolean {
    const text = wordsOf(item);
    if (text === undefined) return false;
    this.#aside = asideOf(item, text) ?? this.#aside;
    // The echo answers only the visitor. Apart from the aside, texts of the system are meant for a model.
    if (item.role !== 'system' && !isRecap(text))
      this.#words = [...this.#words, { text, isOfTool: item.type === 'function_call_output' }].slice(-MAX_WORDS);
    this.tell({ type: 'conversation.item.added', item: { id: makeId('item_'), ...item } });
    return true;
  }

  #refuse(event: ClientEvent | undefined): void {
    this.refuse(
      event?.event_id,
      event === undefined ? 'invalid_json' : 'unknown_event',
      'The echo agent knows session.update, conversation.item.create (a message of input_text, or a function_call_output), response.create, response.cancel, and clear and commit of input_audio_buffer.',
    );
  }

  /** Reports that something was not done. @param eventId the id of the event that asked for it */
  refuse(eventId: unknown, code: string, message: string): void {
    const error = { type: 'invalid_request_error', code, message, event_id: eventId ?? null };
    this.tell({ type: 'error', error });
  }
}

/** An event of OpenAI's realtime API. */
export type ToldEvent = { readonly type: string; readonly [field: string]: unknown };

export interface ClientEvent {
  readonly type?: unknown;
  readonly event_id?: unknown;
  readonly session?: object;
  readonly item?: Item;
  readonly item_id?: string;
  readonly response?: { readonly instructions?: string };
}

/** How many unanswered words are kept; older ones are dropped. */
const MAX_WORDS = 100;
/** How many events are held; older ones are dropped. A greeting's words are fewer, and a call may never have a channel. */
const MAX_HELD = 300;

function parse(text: string): ClientEvent | undefined {
  try {
    const event: unknown = JSON.parse(text);
    return typeof event === 'object' && event !== null ? event : undefined;
  } catch {
    return undefined;
  }
}
