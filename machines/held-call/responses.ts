import { noStrikes } from './strikes.ts';
import type { OpenResponse, Responses, ResponseTerms, StartedResponse, TokenCounts } from './types.ts';

// The running responses of one call, from what its provider reports (docs/contract.md, section 5.12): none is forgotten before its cost was reported
// or estimated, and none is estimated twice.

/** Assumed output of a response in tokens per second, where its provider reports none. */
const TOKENS_A_SECOND = { audio: 20, text: 100 } as const;
/** How long a provider that was asked to end a response has to report its cost. */
const ANSWER_MS = 2000;
/** A running response is heard within this time: if a node that took the call over hears of none by then, there is none. */
const UNHEARD_MS = 10_000;
/** Items of a conversation that are tracked one by one between two responses. */
const MAX_ITEMS = 1000;
/** Responses that are remembered as ended. */
const MAX_ENDED = 1000;

/** As in src/protocol/price.ts, which machines do not import. */
const NO_TOKENS: TokenCounts = {
  textIn: 0,
  textCached: 0,
  textOut: 0,
  audioIn: 0,
  audioCached: 0,
  audioOut: 0,
  imageIn: 0,
  imageCached: 0,
};

/** The estimated cost of a response, under its id. */
export interface Estimate {
  readonly key: string;
  readonly tokens: TokenCounts;
}

/** The worst case of a response: its context, and its longest output; Infinity where only the provider limits it. */
export interface WorstCase {
  readonly context: TokenCounts;
  readonly outputTokens: number;
}

/**
 * How a starting response is treated: cut off at once (`too_many`, `out_of_band`, `too_long`); `ordinary` (alone, in the conversation, no longer than
 * granted); or `extra`, which may run if the remaining budget pays for it.
 */
export type ResponseKind = 'too_many' | 'out_of_band' | 'too_long' | 'ordinary' | 'extra';

export type Settled = readonly [responses: Responses, estimates: readonly Estimate[]];

export function noResponses({ setupTokens }: ResponseTerms): Responses {
  return {
    open: [],
    context: { ...NO_TOKENS, textIn: setupTokens },
    items: [],
    furtherTokens: 0,
    ended: [],
    inherited: 0,
    inheritedSinceMs: 0,
    grantedTokens: Infinity,
    heardSinceMs: null,
    lostAtMs: null,
    strikes: noStrikes,
    wish: { wanted: null, isAsked: false, isInDoubt: false },
  };
}

/** Responses that nobody has asked to end. */
export function runningOf({ open }: Responses): readonly OpenResponse[] {
  return open.filter(({ cancelledAtMs }) => cancelledAtMs === null);
}

/** Whether the cost of every response is known. */
export function isQuiet({ open, inherited }: Responses): boolean {
  return open.length === 0 && inherited === 0;
}

/** The worst cases of all running responses. */
export function worstCasesOf(responses: Responses, terms: ResponseTerms): readonly WorstCase[] {
  const context = presentContext(responses, terms);
  const inherited = Array.from({ length: responses.inherited }, () => ({
    context,
    outputTokens: responses.grantedTokens,
  }));
  return [
    ...responses.open.map((each) => ({ context: each.context, outputTokens: each.maxOutputTokens })),
    ...inherited,
  ];
}

export function kindOf(responses: Responses, terms: ResponseTerms, response: StartedResponse): ResponseKind {
  const { id, isInConversation, maxOutputTokens, grantedTokens } = response;
  const others = runningOf(responses).filter((each) => each.id !== id).length;
  if (others >= terms.max) return 'too_many';
  if (terms.forbidsOverrides && !isInConversation) return 'out_of_band';
  const isLong = maxOutputTokens > grantedTokens;
  if (terms.forbidsOverrides && isLong) return 'too_long';
  return others === 0 && isInConversation && !isLong ? 'ordinary' : 'extra';
}

export function started(responses: Responses, terms: ResponseTerms, response: StartedResponse, at: number): Responses {
  const { grantedTokens: _granted, ...rest } = response;
  const isKnown = responses.open.some(({ id }) => id === response.id);
  const present = isKnown ? responses : withOpen(responses, terms, rest, at);
  // A conversation has one response at a time: so none that another node left is running in it.
  return response.isInConversation
    ? withoutOneInherited({ ...present, wish: { ...present.wish, isAsked: false, isInDoubt: false } })
    : present;
}

/**
 * The response says something, so it is running, even if nobody heard it begin.
 * @returns also whether it began unheard and is not one that another node may have left: nobody knows what it was allowed
 */
export function heardOf(
  responses: Responses,
  terms: ResponseTerms,
  id: string,
  tokens: number,
  at: number,
): readonly [responses: Responses, beganUnheard: boolean] {
  const isKnown = responses.open.some((each) => each.id === id);
  if (!isKnown && responses.ended.includes(id)) return [responses, false];
  const present = isKnown ? responses : withoutOneInherited(withUnheard(responses, terms, id, at));
  const open = present.open.map((each) =>
    each.id === id ? { ...each, heardTokens: each.heardTokens + tokens } : each,
  );
  return [{ ...present, open }, !isKnown && responses.inherited === 0];
}

/** @param isTold its cost was reported, or there is none @returns also the estimated cost where none was reported */
export function doneOf(responses: Responses, terms: ResponseTerms, id: string, isTold: boolean, at: number): Settled {
  const known = responses.open.find((each) => each.id === id);
  const response = known ?? (responses.inherited > 0 ? inheritedAs(responses, terms, id, at) : undefined);
  const rest = withoutOpen(responses, [id]);
  const left = known === undefined ? withoutOneInherited(rest) : rest;
  return [left, isTold || response === undefined ? [] : [estimateOf(response, responses, terms, at)]];
}

/** One inherited response less, because none is running in the conversation. */
export function withoutOneInherited(responses: Responses): Responses {
  return responses.inherited === 0 ? responses : { ...responses, inherited: responses.inherited - 1 };
}

/** Takes a response's usage: its input is the next one's context, besides what was added to the conversation since it began. */
export function withUsage(responses: Responses, id: string, tokens: TokenCounts): Responses {
  const response = responses.open.find((each) => each.id === id);
  if (response?.isInConversation !== true) return responses;
  const { textIn, textCached, audioIn, audioCached, imageIn, imageCached } = tokens;
  const context: TokenCounts = {
    ...NO_TOKENS,
    textIn: textIn + textCached,
    audioIn: audioIn + audioCached,
    imageIn: imageIn + imageCached,
  };
  const read = new Set(response.items);
  return { ...responses, context, items: responses.items.filter(([item]) => !read.has(item)), furtherTokens: 0 };
}

export function withItem(responses: Responses, id: string, tokens: number): Responses {
  const { items } = responses;
  if (items.some(([item]) => item === id))
    return {
      ...responses,
      items: items.map((item) => (item[0] === id ? [id, Math.max(tokens, item[1])] : item)),
    };
  if (items.length >= MAX_ITEMS) return { ...responses, furtherTokens: responses.furtherTokens + tokens };
  return { ...responses, items: [...items, [id, tokens]] };
}

/** Marks responses that were asked to end. */
export function withCancelled(responses: Responses, ids: readonly string[], at: number): Responses {
  const open = responses.open.map((each) =>
    ids.includes(each.id) && each.cancelledAtMs === null ? { ...each, cancelledAtMs: at } : each,
  );
  return { ...responses, open };
}

/** The call was another node's, whose responses are unknown here: assumes as many as may run, each of the longest size. */
export function withInherited(responses: Responses, terms: ResponseTerms, sinceMs: number): Responses {
  // Where the page may change nothing, all but one were cut off when they began.
  const inherited = terms.forbidsOverrides ? 1 : terms.max;
  return { ...responses, inherited, inheritedSinceMs: sinceMs, heardSinceMs: null };
}

/** The call is heard from now on. */
export function withSideband(responses: Responses, at: number): Responses {
  const unheardMs = at - (responses.lostAtMs ?? at);
  const open = responses.open.map((each) => ({ ...each, sinceMs: each.sinceMs + unheardMs }));
  return { ...responses, open, heardSinceMs: responses.heardSinceMs ?? at, lostAtMs: null };
}

/** Nobody hears the call from now on. */
export function withoutSideband(responses: Responses, at: number): Responses {
  return { ...responses, lostAtMs: responses.lostAtMs ?? at };
}

/** Whether `overdueOf` would change anything. */
export function isOverdue(responses: Responses, at: number): boolean {
  const isNoneLeft = responses.inherited > 0 && at - (responses.heardSinceMs ?? Infinity) >= UNHEARD_MS;
  return isNoneLeft || responses.open.some((each) => isUnanswered(each, at));
}

/** Settles responses that were asked to end and whose cost was not reported in time. */
export function overdueOf(responses: Responses, terms: ResponseTerms, at: number): Settled {
  const isNoneLeft = at - (responses.heardSinceMs ?? Infinity) >= UNHEARD_MS;
  const present = isNoneLeft ? { ...responses, inherited: 0 } : responses;
  return settled(present, terms, (each) => isUnanswered(each, at), at);
}

/** Nothing more is heard of the call: estimates every cost that was not reported. */
export function settledOf(responses: Responses, terms: ResponseTerms, at: number): Settled {
  const [left, estimates] = settled(responses, terms, () => true, at);
  // If this node never heard the call, a gap covers everything.
  const length = responses.heardSinceMs === null ? 0 : responses.inherited;
  const inherited = Array.from({ length }, (_, index) => {
    const name = `inherited:${responses.inheritedSinceMs}:${index}`;
    return estimateOf(inheritedAs(responses, terms, name, at), responses, terms, at);
  });
  return [{ ...left, inherited: 0 }, [...estimates, ...inherited]];
}

const isUnanswered = ({ cancelledAtMs }: OpenResponse, at: number): boolean =>
  cancelledAtMs !== null && at - cancelledAtMs >= ANSWER_MS;

function presentContext({ context, items, furtherTokens }: Responses, { maxItemTokens }: ResponseTerms): TokenCounts {
  const sum = items.reduce((total, [, tokens]) => total + tokens, furtherTokens);
  return { ...context, textIn: context.textIn + Math.min(sum, maxItemTokens) };
}

function withOpen(
  responses: Responses,
  terms: ResponseTerms,
  response: Omit<StartedResponse, 'grantedTokens'>,
  sinceMs: number,
): Responses {
  const opened: OpenResponse = {
    ...response,
    sinceMs,
    context: presentContext(responses, terms),
    items: responses.items.map(([item]) => item),
    heardTokens: 0,
    cancelledAtMs: null,
  };
  return { ...responses, open: [...responses.open, opened] };
}

/** Adds a response that nobody heard begin: one that another node left, or one whose limits are unknown. */
function withUnheard(responses: Responses, terms: ResponseTerms, id: string, at: number): Responses {
  if (responses.inherited > 0)
    return { ...responses, open: [...responses.open, inheritedAs(responses, terms, id, at)] };
  return withOpen(responses, terms, { id, isInConversation: false, maxOutputTokens: Infinity, modality: 'audio' }, at);
}

function withoutOpen(responses: Responses, ids: readonly string[]): Responses {
  const ended = [...responses.ended.slice(ids.length - MAX_ENDED), ...ids];
  return { ...responses, open: responses.open.filter(({ id }) => !ids.includes(id)), ended };
}

function inheritedAs(responses: Responses, terms: ResponseTerms, id: string, at: number): OpenResponse {
  return {
    id,
    isInConversation: true,
    maxOutputTokens: responses.grantedTokens,
    modality: 'audio',
    sinceMs: responses.heardSinceMs ?? at,
    context: presentContext(responses, terms),
    items: [],
    heardTokens: 0,
    cancelledAtMs: null,
  };
}

function settled(
  responses: Responses,
  terms: ResponseTerms,
  isOver: (response: OpenResponse) => boolean,
  at: number,
): Settled {
  const over = responses.open.filter(isOver);
  if (over.length === 0) return [responses, []];
  const left = withoutOpen(
    responses,
    over.map(({ id }) => id),
  );
  return [left, over.map((response) => estimateOf(response, responses, terms, at))];
}

/** Its context, and the larger of what it was heard to say and what it may have said in its time, up to what it was allowed. */
function estimateOf(
  { id, context, modality, maxOutputTokens, sinceMs, heardTokens }: OpenResponse,
  { lostAtMs }: Responses,
  { maxResponseTokens }: ResponseTerms,
  at: number,
): Estimate {
  const untilMs = Math.min(at, lostAtMs ?? Infinity);
  const inItsTime = (Math.max(0, untilMs - sinceMs) / 1000) * TOKENS_A_SECOND[modality];
  const tokens = Math.min(Math.ceil(Math.max(inItsTime, heardTokens)), maxOutputTokens, maxResponseTokens);
  return { key: id, tokens: { ...context, [modality === 'text' ? 'textOut' : 'audioOut']: tokens } };
}
