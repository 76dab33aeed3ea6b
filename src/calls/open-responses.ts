import { Lru } from '../kernel/lru.ts';
import type { WorstCase } from '../metering/contract.ts';
import { NO_TOKENS, type TokenClasses } from '../protocol/price.ts';
import { MAX_RESPONSE_TOKENS, type StartedResponse } from '../upstream/contract.ts';

/** Tokens that a response is taken to make in a second, where its provider does not tell. */
const TOKENS_A_SECOND = { audio: 20, text: 100 } as const;
/** A provider that was asked to end a response has this long to say what it cost. */
const ANSWER_MS = 2000;
/** What runs is heard within this time: a node that took a call over and hears nothing of a response by then has none to look for. */
const UNHEARD_MS = 10_000;
/** Items of a conversation that are told apart between two responses. */
const MAX_ITEMS = 1000;
/** Responses that are known to have ended. */
const MAX_ENDED = 1000;

export interface OpenResponsesOptions {
  /** That may run at once (MAX_OPEN_RESPONSES). */
  readonly max: number;
  /** Whether the page may change nothing of its session: then no response of it runs beside the conversation, or is longer than granted. */
  readonly isLocked: boolean;
  /** Tokens of instructions and tools: the context before any usage tells it. */
  readonly setupTokens: number;
  /** Tokens of the items of its conversation that a response reads at most. */
  readonly maxItemTokens: number;
}

/** What a response is taken to have cost, under its id. */
export interface Estimate {
  readonly key: string;
  readonly tokens: TokenClasses;
}

type OpenResponse = Omit<StartedResponse, 'grantedTokens'> & {
  sinceMs: number;
  readonly context: TokenClasses;
  /** What the conversation held when it began. */
  readonly items: readonly string[];
  /** Tokens that it was heard to say. */
  heardTokens: number;
  cancelledAtMs: number | undefined;
};

/**
 * What a response that begins is: one of those that are cut off at once, an `ordinary` one (alone, in the conversation, no longer than
 * granted), or an `extra` one, which may run as far as what is left pays for it.
 */
type Kind = 'too_many' | 'out_of_band' | 'too_long' | 'ordinary' | 'extra';

/**
 * The responses of one call that run, by what its provider tells (docs/contract.md, section 5.12): none is forgotten until its cost was
 * told or estimated, and none is estimated twice. It asks nobody and knows no clock.
 */
export class OpenResponses {
  readonly #options: OpenResponsesOptions;
  readonly #open = new Map<string, OpenResponse>();
  /** What the next response reads, as far as usage told it. */
  #context: TokenClasses;
  /** Tokens of the items since. */
  readonly #items = new Map<string, number>();
  /** Tokens of those that are too many to be told apart. */
  #furtherTokens = 0;
  readonly #ended = new Lru<string>(MAX_ENDED);
  #inherited = 0;
  #inheritedSinceMs = 0;
  /** What one may have by now. */
  #grantedTokens = Infinity;
  #heardSinceMs: number | undefined;
  /** Since when nobody hears the call: that time is in a gap, and no response is charged for it. */
  #lostAtMs: number | undefined;

  constructor(options: OpenResponsesOptions) {
    this.#options = options;
    this.#context = { ...NO_TOKENS, textIn: options.setupTokens };
  }

  /** All whose cost is not known, also those that were asked to end. */
  get names(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Those that nobody asked to end. */
  get running(): readonly string[] {
    return [...this.#open.values()].filter(({ cancelledAtMs }) => cancelledAtMs === undefined).map(({ id }) => id);
  }

  /** Responses that another node may have left here, and whose names nobody knows. */
  get inherited(): number {
    return this.#inherited;
  }

  /** Whether none runs. */
  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#inherited === 0;
  }

  /** What all that run may come to. */
  get worstCases(): readonly WorstCase[] {
    const inherited = Array.from({ length: this.#inherited }, () => ({
      context: this.#present,
      outputTokens: this.#grantedTokens,
    }));
    const open = [...this.#open.values()].map(({ context, maxOutputTokens }) => ({
      context,
      outputTokens: maxOutputTokens,
    }));
    return [...open, ...inherited];
  }

  start(response: StartedResponse, atMs: number): Kind {
    const { max, isLocked } = this.#options;
    const { grantedTokens, ...rest } = response;
    const isKnown = this.#open.has(response.id);
    const others = this.running.filter((id) => id !== response.id).length;
    if (!isKnown) this.#add(rest, atMs);
    // A conversation has one response at a time: another node left none that runs in it.
    if (response.isInConversation) this.#forgetInherited();
    if (others >= max) return 'too_many';
    if (isLocked && !response.isInConversation) return 'out_of_band';
    const isLong = response.maxOutputTokens > grantedTokens;
    if (isLocked && isLong) return 'too_long';
    return others === 0 && response.isInConversation && !isLong ? 'ordinary' : 'extra';
  }

  /**
   * It says something, and so it runs, also where nobody heard it begin.
   * @returns whether it is one that began unheard, beyond those that another node may have left: nobody knows what it was allowed
   */
  heard(id: string, tokens: number, atMs: number): boolean {
    if (this.#ended.get(id) !== undefined) return false;
    const isUnknown = !this.#open.has(id);
    const isInherited = this.#inherited > 0;
    if (isUnknown) {
      if (isInherited) this.#open.set(id, this.#inheritedAs(id, atMs));
      else this.#add({ id, isInConversation: false, maxOutputTokens: Infinity, modality: 'audio' }, atMs);
      this.#forgetInherited();
    }
    const response = this.#open.get(id);
    if (response !== undefined) response.heardTokens += tokens;
    return isUnknown && !isInherited;
  }

  /** @param isTold its cost was told, or there is none @returns what it is taken to have cost where nobody tells */
  done(id: string, isTold: boolean, atMs: number): Estimate | undefined {
    const response = this.#open.get(id) ?? (this.#inherited > 0 ? this.#inheritedAs(id, atMs) : undefined);
    if (!this.#forget(id)) this.#forgetInherited();
    return isTold || response === undefined ? undefined : this.#estimateOf(response, atMs);
  }

  /** Nothing runs in the conversation. */
  noneInConversation(): void {
    this.#forgetInherited();
  }

  /** The usage of a response: its input is the context of the next one, beside what the conversation got since it began. */
  noteUsage(id: string, tokens: TokenClasses): void {
    const response = this.#open.get(id);
    if (response?.isInConversation !== true) return;
    const { textIn, textCached, audioIn, audioCached, imageIn, imageCached } = tokens;
    this.#context = {
      ...NO_TOKENS,
      textIn: textIn + textCached,
      audioIn: audioIn + audioCached,
      imageIn: imageIn + imageCached,
    };
    for (const item of response.items) this.#items.delete(item);
    this.#furtherTokens = 0;
  }

  noteItem(id: string, tokens: number): void {
    if (this.#items.size < MAX_ITEMS || this.#items.has(id))
      this.#items.set(id, Math.max(tokens, this.#items.get(id) ?? 0));
    else this.#furtherTokens += tokens;
  }

  /** It was asked to end. */
  cancelled(id: string, atMs: number): void {
    const response = this.#open.get(id);
    if (response !== undefined) response.cancelledAtMs ??= atMs;
  }

  /** The call was another node's, whose responses nobody here knows: as many as may run, of the size that one may have. */
  inherit(sinceMs: number): void {
    const { max, isLocked } = this.#options;
    // Of a page that may change nothing all but one were cut off as they began.
    this.#inherited = isLocked ? 1 : max;
    this.#inheritedSinceMs = sinceMs;
    this.#heardSinceMs = undefined;
  }

  /** The call is heard from now on. */
  attached(atMs: number): void {
    this.#heardSinceMs ??= atMs;
    const unheardMs = atMs - (this.#lostAtMs ?? atMs);
    for (const response of this.#open.values()) response.sinceMs += unheardMs;
    this.#lostAtMs = undefined;
  }

  /** Nobody hears the call from now on. */
  lost(atMs: number): void {
    this.#lostAtMs ??= atMs;
  }

  /** A response may have so many tokens from now on. */
  granted(tokens: number): void {
    this.#grantedTokens = tokens;
  }

  /** What was asked to end and is not answered in time. */
  overdue(atMs: number): readonly Estimate[] {
    if (atMs - (this.#heardSinceMs ?? Infinity) >= UNHEARD_MS) this.#inherited = 0;
    return this.#settle(({ cancelledAtMs = Infinity }) => atMs - cancelledAtMs >= ANSWER_MS, atMs);
  }

  /** Nothing more is heard of the call: what all that is not told is taken to have cost. */
  settle(atMs: number): readonly Estimate[] {
    const open = this.#settle(() => true, atMs);
    // Of a call that was never heard here all is in a gap.
    const length = this.#heardSinceMs === undefined ? 0 : this.#inherited;
    const inherited = Array.from({ length }, (_, index) =>
      this.#estimateOf(this.#inheritedAs(`inherited:${this.#inheritedSinceMs}:${index}`, atMs), atMs),
    );
    this.#inherited = 0;
    return [...open, ...inherited];
  }

  get #present(): TokenClasses {
    const items = [...this.#items.values()].reduce((sum, tokens) => sum + tokens, this.#furtherTokens);
    return { ...this.#context, textIn: this.#context.textIn + Math.min(items, this.#options.maxItemTokens) };
  }

  #add(response: Omit<StartedResponse, 'grantedTokens'>, sinceMs: number): void {
    const items = [...this.#items.keys()];
    this.#open.set(response.id, {
      ...response,
      sinceMs,
      context: this.#present,
      items,
      heardTokens: 0,
      cancelledAtMs: undefined,
    });
  }

  #forgetInherited(): void {
    this.#inherited = Math.max(0, this.#inherited - 1);
  }

  #forget(id: string): boolean {
    this.#ended.set(id, id);
    return this.#open.delete(id);
  }

  #inheritedAs(id: string, atMs: number): OpenResponse {
    return {
      id,
      isInConversation: true,
      maxOutputTokens: this.#grantedTokens,
      modality: 'audio',
      sinceMs: this.#heardSinceMs ?? atMs,
      context: this.#present,
      items: [],
      heardTokens: 0,
      cancelledAtMs: undefined,
    };
  }

  #settle(isOver: (response: OpenResponse) => boolean, atMs: number): readonly Estimate[] {
    const over = [...this.#open.values()].filter(isOver);
    for (const { id } of over) this.#forget(id);
    return over.map((response) => this.#estimateOf(response, atMs));
  }

  #estimateOf(response: OpenResponse, atMs: number): Estimate {
    return estimateOf(response, Math.min(atMs, this.#lostAtMs ?? Infinity));
  }
}

/** Its context, and what it may have said in the time that it ran, or was heard to say, at most what it was allowed. */
function estimateOf(
  { id, context, modality, maxOutputTokens, sinceMs, heardTokens }: OpenResponse,
  untilMs: number,
): Estimate {
  const inItsTime = (Math.max(0, untilMs - sinceMs) / 1000) * TOKENS_A_SECOND[modality];
  const tokens = Math.min(Math.ceil(Math.max(inItsTime, heardTokens)), maxOutputTokens, MAX_RESPONSE_TOKENS);
  return { key: id, tokens: { ...context, [modality === 'text' ? 'textOut' : 'audioOut']: tokens } };
}
