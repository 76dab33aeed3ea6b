import { z } from 'zod';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceState } from '../../machines/voice-session/types.ts';
import { callFrame, callRequest } from './call-frames.ts';
import type { FeedFact } from './operator/feed.ts';
import { operatorNode } from './operator/node.ts';

const object: z.ZodType<object> = z.object();
const texts: z.ZodType<readonly string[]> = z.array(z.string());
/** Why a call does not do what a page asks; null where it does. */
const callRefusal = z.enum(['CALL_NOT_OPEN', 'INVALID_REQUEST', 'TOOL_UNKNOWN']);
const usageTotals = z.object({ tokens: z.int(), microDollars: z.int() });

/** A word that nodes of another version may have more of: any text is taken for one. */
function word<T extends string>(): z.ZodType<T> {
  return z.string() as unknown as z.ZodType<T>;
}

/** What makes a fact of each kind one, for those who pass it on. */
const knownFacts = {
  session: z.object({ change: z.object({ ref: z.string(), tenantId: z.string() }) }),
  event: z.object({ ref: z.string(), tenantId: z.string(), event: object }),
  audit: z.object({ row: z.object({ actor: z.string() }) }),
  refusals: z.object({
    counts: z.array(z.object({ code: z.string(), n: z.int() })),
    samples: z.array(object),
  }),
} satisfies Record<FeedFact['kind'], z.ZodType>;

/** A fact of a kind that only a newer node knows takes nothing from those that this one knows. */
const fact = z.custom<FeedFact>((value) => {
  if (typeof value !== 'object' || value === null || !('kind' in value) || typeof value.kind !== 'string') return false;
  return Object.hasOwn(knownFacts, value.kind)
    ? knownFacts[value.kind as FeedFact['kind']].safeParse(value).success
    : true;
});
const facts: z.ZodType<readonly FeedFact[]> = z.array(fact);

/**
 * What nodes tell each other, by its type. What a lost message said is found out by the caches' own expiry, or by a look at the stores
 * after a gap.
 */
const busMessages = {
  'tenants.changed': object,
  /** An address, as it is counted, whose creates are challenged until then. */
  'address.suspect': z.object({ address: z.string(), untilMs: z.number() }),
  'login.changed': z.object({ loginId: z.string() }),
  /** Operators watch the feed on a node, there these topics (by default all) and the events of these sessions. */
  'feed.watched': z.object({ node: z.string(), refs: texts, topics: texts.optional() }),
  /** What happened on a node, told while somebody watches; `more` was left out. */
  'feed.told': z.object({ node: z.string(), facts, more: z.int() }),
  'session.moved': z.object({
    sessionId: z.string(),
    state: word<VoiceState>(),
    endReason: word<EndReason>().nullable(),
  }),
  /** Words of its new visitor were heard: it ends no sooner than others. */
  'session.spoke': z.object({ sessionId: z.string() }),
  /** Another page goes on with the session: the sockets that were attached until then are of the page before. */
  'session.resumed': z.object({ sessionId: z.string(), atMs: z.number() }),
  /** A node is here: each says so every few seconds, and leaves when it stops. */
  'node.here': z.object({
    node: operatorNode,
    /** A keyed hash of each of its settings, by the name of the variable. */
    settings: z.record(z.string(), z.string()).optional(),
    /** It hears of the sessions that it follows over a channel of its own; older builds hear of all over the one of all nodes. */
    followsSessions: z.boolean().optional(),
  }),
  'node.gone': z.object({ id: z.string() }),
  /** A node stopped: the calls that it held are to be taken over. */
  'calls.orphaned': object,
  /** What clients hear of a session's call. */
  'call.told': z.object({
    sessionId: z.string(),
    callId: z.string(),
    event: word<'ready' | 'speaking' | 'listening' | 'over'>(),
  }),
  /** What sockets that want it are told of a session's call; `settled`: tools that need no answer any more. */
  'call.shown': z.object({ sessionId: z.string(), frames: z.array(callFrame), settled: z.array(z.string()) }),
  /**
   * Whether a node has sockets of a session that want to hear of its call, which holds for half a minute. `tools`: what it knows that pages
   * are still asked for.
   */
  'call.wanted': z.object({ sessionId: z.string(), node: z.string(), isOn: z.boolean(), tools: texts }),
  /** A page asks something of its session's call, for the node that holds that; not after `untilMs`. */
  'call.asked': z.object({ sessionId: z.string(), request: z.string(), untilMs: z.number(), frame: callRequest }),
  'call.answered': z.object({ sessionId: z.string(), request: z.string(), code: callRefusal.nullable() }),
  /** An operator has words for the agent of a session's call, for the node that holds that; not after `untilMs`. */
  'call.whisper': z.object({ sessionId: z.string(), request: z.string(), untilMs: z.number(), text: z.string() }),
  /** What became of it, told to all: who asked need not follow the session. */
  'call.whispered': z.object({ request: z.string(), isTold: z.boolean() }),
  /** What is left for a session's call ends at about that time: its clients are to be told. */
  'quota.ending': z.object({ sessionId: z.string(), endsAtMs: z.number() }),
  /** A usage entry carried its subject's totals to `after`, over a share of some ceiling that clients are warned at. */
  'quota.neared': z.object({ subject: z.string(), after: usageTotals, entry: usageTotals }),
};

/** A node that has not taken a request of `call.asked` or `call.whisper` within this does not do it later either. */
export const TAKEN_WITHIN_MS = 2000;
/** The answer of one that has may be on its way for so long after that. */
export const ANSWER_LATE_MS = 500;

type BusMessageType = keyof typeof busMessages;

export type BusMessage = {
  [T in BusMessageType]: { readonly type: T } & Readonly<z.infer<(typeof busMessages)[T]>>;
}[BusMessageType];

/** The session that a message is about; undefined for one that every node must hear. */
export function sessionOf(message: BusMessage): string | undefined {
  return 'sessionId' in message ? message.sessionId : undefined;
}

/**
 * Reads a message: nodes of another version, or other programs on the channel, may send anything.
 * @returns it with all its fields, also those that only its sender knows; undefined for what is no message that this node knows
 */
export function readBusMessage(text: string): BusMessage | undefined {
  const fields = parse(text);
  const type = fields?.type;
  if (typeof type !== 'string' || !Object.hasOwn(busMessages, type)) return undefined;
  return busMessages[type as BusMessageType].safeParse(fields).success ? (fields as BusMessage) : undefined;
}

function parse(text: string): { readonly type?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
