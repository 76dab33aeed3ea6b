import type { WebSocket } from 'ws';
import { clientEvent, sessionUpdate } from './schemas.ts';

type Json = Record<string, unknown>;

export interface CallTerms {
  readonly id: string;
  readonly api: 'realtime' | 'live';
  /** Whose call it is: nobody else hears or ends it. */
  readonly credential: string;
  readonly session: Json;
  readonly offer: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The path and query that created it. */
  readonly url: string;
}

const LONG_RESPONSE_TOKENS = 200;

let ids = 0;
const nextId = (prefix: string): string => `${prefix}_${String((ids += 1)).padStart(8, '0')}`;

/** One call at the stand-in for a provider, and the truth about it. */
export class TestCall {
  readonly terms: CallTerms;
  readonly createdAtMs = Date.now();
  /** The session as it is by now. */
  session: Json;
  readonly sidebands = new Set<WebSocket>();
  /** How many sidebands were ever attached. */
  attached = 0;
  /** The status of each hang-up that was answered. */
  readonly hangups: number[] = [];
  /** What came over sidebands. */
  readonly heard: Json[] = [];
  /** The usage of each response, as the provider bills it. */
  readonly billed: { readonly id: string; readonly usage: unknown }[] = [];
  /** Seconds of the live API that are billed; undefined: those that have passed, 15 at least. */
  seconds: number | undefined;
  ended: { readonly reason: string; readonly atMs: number } | undefined;
  /** Whether updates of the session are confirmed, and closes of the live API. */
  answers = true;
  #active: { readonly id: string; readonly usage: unknown } | undefined;

  constructor(terms: CallTerms) {
    this.terms = terms;
    this.session = { ...terms.session };
  }

  get id(): string {
    return this.terms.id;
  }

  /** Says an event on all sidebands. */
  emit(event: Json): void {
    this.emitRaw(JSON.stringify({ event_id: nextId('event'), ...event }));
  }

  emitRaw(data: string | Buffer): void {
    for (const sideband of this.sidebands) sideband.send(data);
  }

  speechStarted(): void {
    this.emit({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: nextId('item') });
  }

  /** Begins a response, which is billed when it is done. */
  beginResponse(usage: unknown, id = nextId('resp')): string {
    this.#active = { id, usage };
    this.emit({ type: 'response.created', response: { object: 'realtime.response', id, status: 'in_progress' } });
    return id;
  }

  finishResponse(status = 'completed'): void {
    const active = this.#active;
    if (active === undefined) return;
    this.#active = undefined;
    this.billed.push(active);
    this.emit({ type: 'response.done', response: { object: 'realtime.response', ...active, status, output: [] } });
  }

  /** A whole response. @returns its id */
  respond(usage: unknown, id?: string): string {
    const name = this.beginResponse(usage, id);
    this.finishResponse();
    return name;
  }

  /** The page changes the session over its data channel. */
  updateFromPage(change: Json): void {
    Object.assign(this.session, change);
    this.#tellUpdated();
  }

  /** The live API's cumulative total. */
  tellSeconds(seconds: number): void {
    this.seconds = seconds;
    this.emit({ type: 'session.usage.updated', usage: { seconds } });
  }

  /** Ends the call; sidebands are closed cleanly. */
  end(reason: string): void {
    if (this.ended !== undefined) return;
    this.ended = { reason, atMs: Date.now() };
    if (this.terms.api === 'live')
      this.emit({ type: 'session.closed', reason, usage: { seconds: this.billedSeconds } });
    this.closeSidebands();
  }

  get billedSeconds(): number {
    return this.seconds ?? Math.max(15, (Date.now() - this.createdAtMs) / 1000);
  }

  /** The provider's own end, with its error. */
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

  /** Their connections break without a word. */
  breakSidebands(): void {
    for (const sideband of this.sidebands) sideband.terminate();
  }

  /** Reads nothing any more, pings neither, as a peer whose network is gone. */
  stall(): void {
    for (const sideband of this.sidebands) sideband.pause();
  }

  attach(sideband: WebSocket): void {
    this.attached += 1;
    this.sidebands.add(sideband);
    sideband.on('close', () => this.sidebands.delete(sideband));
    sideband.on('error', () => undefined);
    sideband.on('message', (data: Buffer) => this.#receive(sideband, data.toString('utf8')));
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
        Object.assign(this.session, update.data.session);
        return this.#tellUpdated();
      }
      case 'realtime response.create':
        return this.#writeMuch();
      case 'realtime response.cancel':
        if (this.#active === undefined) return refuse('response_cancel_not_active', 'No active response.');
        return this.finishResponse('cancelled');
      case 'live session.close':
        return this.end('close_requested');
      default:
        return refuse('unknown_event', `Unknown event ${event.type}.`);
    }
  }

  /** A response that is long, or as long as the session allows. */
  #writeMuch(): void {
    const { max_output_tokens: limit } = this.session;
    const isShort = typeof limit === 'number' && limit < LONG_RESPONSE_TOKENS;
    const output_tokens = isShort ? limit : LONG_RESPONSE_TOKENS;
    this.beginResponse({ total_tokens: 10 + output_tokens, input_tokens: 10, output_tokens });
    if (isShort) this.finishResponse('incomplete');
  }

  #tellUpdated(): void {
    this.emit({ type: 'session.updated', session: { object: 'realtime.session', ...this.session } });
  }
}
