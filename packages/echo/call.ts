import { EventChannel, type ChannelEvents, type Words } from './channel.ts';
import { describeResponse, describeSession, describeTurn } from './describe.ts';
import type { EchoConnection, EchoEvent, EchoSetup, OverReason } from './events.ts';
import { makeId } from './id.ts';
import { EchoPeer } from './peer.ts';
import { SpeechDetector, type Utterance } from './speech.ts';
import { ConversationUsage, describeUsage, type ResponseTokens } from './usage.ts';
import type { EchoTimes } from './times.ts';
import type { WebRtc } from './web-rtc.ts';
import { describeSpeech, replyTo, sayUnasked, wordByWord } from './words.ts';

const TICK_MS = 50;
/** How often continuing speech is reported as activity. */
const ACTIVITY_MS = 1000;

interface Response {
  readonly id: string;
  readonly utterance: Utterance;
}

export interface EchoCallDeps {
  readonly webRtc: WebRtc;
  readonly clock: { now(): number };
  /** Called when the call is over, so that its owner forgets it. */
  readonly onOver: () => void;
}

/** One call with the echo agent: a peer, its channel, and the turns of the conversation, reported to all attached connections. */
export class EchoCall {
  readonly id = makeId('rtc_');
  readonly #deps: EchoCallDeps;
  readonly #times: EchoTimes;
  readonly #peer: EchoPeer;
  readonly #channel: EventChannel;
  readonly #speech = new SpeechDetector();
  readonly #usage = new ConversationUsage();
  readonly #listeners = new Map<(event: EchoEvent) => void, () => void>();
  readonly #timer: NodeJS.Timeout;
  readonly #bornMs: number;
  #seenMs: number;
  #activeMs = 0;
  #isConnected = false;
  #isOver = false;
  readonly #tools: readonly string[];
  #maxOutputTokens: number | undefined;
  readonly #isPush: boolean;
  /** With push-to-talk: what the visitor has said that is not answered yet. */
  #turn: Utterance | undefined;
  #response: Response | undefined;
  #item = '';

  constructor(deps: EchoCallDeps, times: EchoTimes, setup: EchoSetup) {
    this.#deps = deps;
    this.#times = times;
    this.#bornMs = deps.clock.now();
    this.#seenMs = this.#bornMs;
    this.#maxOutputTokens = setup.maxOutputTokens;
    this.#isPush = setup.behaviour?.turns?.detect === 'push';
    const created = describeSession(setup);
    const on: ChannelEvents = {
      configured: (session) =>
        this.#tell({ type: 'configChanged', session, created, maxOutputTokens: this.#maxOutputTokens }),
      cancelled: () => this.#interrupt(),
      asked: (words, instructions) => this.#answer(words, instructions),
      cleared: () => this.#clear(),
      committed: (eventId) => this.#commit(eventId),
      told: (event) => this.#tell({ type: 'told', event }),
    };
    this.#channel = new EventChannel(created, on, typeof setup.behaviour?.transcribe === 'object');
    this.#tools = setup.tools.map(({ name }) => name);
    this.#peer = new EchoPeer(deps.webRtc, times.delayMs, {
      connected: () => (this.#isConnected = true),
      alive: () => (this.#seenMs = deps.clock.now()),
      audio: (levelDb, bytes) => this.#hear(levelDb, bytes),
      channel: (channel) => this.#channel.open(channel),
      gone: (why) => void this.#finish(why),
    });
    this.#timer = setInterval(() => this.#tick(deps.clock.now()), TICK_MS).unref();
  }

  /** @throws Error for an offer that it does not understand; the call is then over */
  async answer(offerSdp: string): Promise<string> {
    try {
      return await this.#peer.answer(offerSdp);
    } catch (error) {
      await this.hangUp();
      throw error;
    }
  }

  attach(hear: (event: EchoEvent) => void): EchoConnection {
    const closed = new Promise<'left'>((resolve) => this.#listeners.set(hear, () => resolve('left')));
    return {
      closed,
      limitResponses: (maxOutputTokens) => (this.#maxOutputTokens = maxOutputTokens),
      restoreConfig: () => {
        this.#channel.restore();
        this.#tell({ type: 'configRestored' });
      },
      take: (event) => this.#channel.take(event),
      cancelResponse: () => this.#interrupt(),
      close: () => this.#detach(hear),
    };
  }

  /** Sends no further packet of audio from now on. Resolves when the browser has been told. */
  hangUp(): Promise<void> {
    return this.#finish('remote');
  }

  #detach(hear: (event: EchoEvent) => void): void {
    this.#listeners.get(hear)?.();
    this.#listeners.delete(hear);
  }

  #tell(event: EchoEvent): void {
    for (const hear of this.#listeners.keys()) hear(event);
  }

  #hear(levelDb: number | undefined, bytes: number): void {
    const nowMs = this.#deps.clock.now();
    this.#seenMs = nowMs;
    if (!this.#speech.hear(nowMs, levelDb, bytes) || this.#isPush) return;
    this.#item = makeId('item_');
    this.#channel.tell({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: nowMs - this.#bornMs,
      item_id: this.#item,
    });
    this.#tell({ type: 'listening' });
  }

  #tick(nowMs: number): void {
    // With push-to-talk, the button says how long the visitor speaks.
    if (!this.#isPush && this.#speech.startMs !== undefined && nowMs - this.#activeMs >= ACTIVITY_MS) {
      this.#activeMs = nowMs;
      this.#tell({ type: 'activity' });
    }
    const ended = this.#isPush ? undefined : this.#speech.takeEnded(nowMs);
    if (ended !== undefined) this.#hearOut(ended);
    // The end of the echo is heard this much later.
    const { utterance } = this.#response ?? {};
    if (utterance !== undefined && nowMs >= utterance.endMs + this.#times.delayMs) this.#complete('completed');
    // A process that was suspended must first read what arrived meanwhile.
    if (this.#isLost(nowMs)) setImmediate(() => this.#isLost(nowMs) && void this.#finish('lost'));
    else if (nowMs - this.#bornMs > this.#times.maxMs) void this.#expire();
  }

  #isLost(atMs: number): boolean {
    const { lostMs, connectMs } = this.#times;
    return this.#isConnected ? atMs - this.#seenMs > lostMs : atMs - this.#bornMs > connectMs;
  }

  #hearOut(utterance: Utterance): void {
    this.#complete('completed');
    this.#channel.tell({
      type: 'input_audio_buffer.speech_stopped',
      audio_end_ms: utterance.endMs - this.#bornMs,
      item_id: this.#item,
    });
    this.#tellTurn(utterance);
    this.#respond(utterance);
  }

  #tellTurn({ startMs, endMs }: Utterance): void {
    for (const event of describeTurn(this.#item, endMs - startMs, this.#channel.isTranscribing))
      this.#channel.tell(event);
  }

  #clear(): void {
    this.#speech.take();
    this.#channel.tell({ type: 'input_audio_buffer.cleared' });
  }

  #commit(eventId: unknown): void {
    const said = this.#speech.take();
    if (said === undefined)
      return this.#channel.refuse(
        eventId,
        'input_audio_buffer_commit_empty',
        'Nothing was said that could be committed.',
      );
    this.#turn = said;
    this.#item = makeId('item_');
    this.#tellTurn(said);
  }

  /** Answers what was said aloud; or, if there are words or instructions, answers in words. */
  #answer(words: readonly Words[], instructions?: string): void {
    const turn = this.#turn;
    if (turn === undefined || words.length > 0 || instructions !== undefined) return this.#say(words, instructions);
    this.#complete('completed');
    this.#turn = undefined;
    this.#respond(turn);
  }

  #respond(utterance: Utterance): void {
    this.#response = { id: makeId('resp_'), utterance };
    this.#startResponse(this.#response.id);
    this.#channel.tell({ type: 'output_audio_buffer.started', response_id: this.#response.id });
    this.#tell({ type: 'speaking' });
  }

  /** Ends the current response, if there is one, and reports its usage. */
  #complete(status: 'completed' | 'cancelled'): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    const { startMs, endMs } = response.utterance;
    const tokens = this.#usage.add(endMs - startMs, this.#maxOutputTokens);
    this.#channel.tell({
      type: 'response.output_audio_transcript.done',
      response_id: response.id,
      item_id: makeId('item_'),
      transcript: describeSpeech(endMs - startMs),
    });
    this.#finishResponse(response.id, status, tokens);
    const end = status === 'completed' ? 'stopped' : 'cleared';
    this.#channel.tell({ type: `output_audio_buffer.${end}`, response_id: response.id });
  }

  #startResponse(id: string): void {
    this.#channel.tell({ type: 'response.created', response: describeResponse(id, 'in_progress') });
    this.#tell({ type: 'responseStarted', id, maxOutputTokens: this.#maxOutputTokens });
    this.#tell({ type: 'activity' });
  }

  #finishResponse(
    id: string,
    status: 'completed' | 'cancelled',
    tokens: ResponseTokens,
    output: readonly object[] = [],
  ): void {
    const usage = describeUsage(tokens);
    this.#channel.tell({ type: 'response.done', response: { ...describeResponse(id, status), output, usage } });
    this.#tell({ type: 'responseDone', id, usage });
  }

  /** Answers words by repeating them or by calling a tool. Without words, it says what the instructions name. */
  #say(words: readonly Words[], instructions?: string): void {
    if (this.#isOver) return;
    this.#complete('completed');
    const [id, item] = [makeId('resp_'), makeId('item_')];
    const text = words.length > 0 ? words.map((each) => each.text).join('\n') : sayUnasked(instructions);
    const tools = words.some(({ isOfTool }) => isOfTool) ? [] : this.#tools;
    const reply = replyTo(text, tools);
    this.#startResponse(id);
    const tokens = this.#usage.addText(text, this.#maxOutputTokens);
    if (reply.type === 'call') {
      const { name, arguments: json } = reply;
      const call = {
        id: item,
        type: 'function_call',
        status: 'completed',
        call_id: makeId('call_'),
        name,
        arguments: json,
      };
      return this.#finishResponse(id, 'completed', tokens, [call]);
    }
    for (const delta of wordByWord(reply.text))
      this.#channel.tell({ type: 'response.output_text.delta', response_id: id, item_id: item, delta });
    this.#channel.tell({ type: 'response.output_text.done', response_id: id, item_id: item, text: reply.text });
    this.#finishResponse(id, 'completed', tokens);
  }

  #interrupt(): void {
    this.#peer.silence();
    this.#complete('cancelled');
  }

  #expire(): Promise<void> {
    const minutes = this.#times.maxMs / 60_000;
    const message = `Your session hit the maximum duration of ${minutes} minutes.`;
    this.#channel.tell({ type: 'error', error: { type: 'invalid_request_error', code: 'session_expired', message } });
    return this.#finish('expired');
  }

  async #finish(reason: OverReason): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#interrupt();
    const closed = this.#peer.close();
    this.#deps.onOver();
    this.#tell({ type: 'over', reason });
    for (const hear of this.#listeners.keys()) this.#detach(hear);
    await closed;
  }
}
