import { z } from 'zod';
import type { EndReason } from '../../machines/voice-session/end-reasons.ts';
import type { VoiceState } from '../../machines/voice-session/types.ts';
import { callFrame, callRequest } from './call-frames.ts';
import type { FeedFact } from './operator/feed.ts';
import { operatorNode } from './operator/node.ts';

const object: z.ZodType<object> = z.object();
const texts: z.ZodType<readonly string[]> = z.array(z.string());
/** Why a call does not do what a page asks; null if it does it. */
const callRefusal = z.enum(['CALL_NOT_OPEN', 'INVALID_REQUEST', 'TOOL_UNKNOWN']);
const usageTotals = z.object({ tokens: z.int(), microDollars: z.int() });

/** Accepts any text, because nodes of another version may know more words than this one. */
function word<T extends string>(): z.ZodType<T> {
  return z.string() as unknown as z.ZodType<T>;
}

/** The fields that a fact of each kind must have, as far as the nodes that pass it on depend on them. */
const knownFacts = {
  session: z.object({ change: z.object({ ref: z.string(), tenantId: z.string() }) }),
  event: z.object({ ref: z.string(), tenantId: z.string(), event: object }),
  audit: z.object({ row: z.object({ actor: z.string() }) }),
  refusals: z.object({
    counts: z.array(z.object({ code: z.string(), n: z.int() })),
    samples: z.array(object),
  }),
} satisfies Record<FeedFact['kind'], z.ZodType>;

/** Accepts facts of unknown kinds too, so that one from a newer node does not make the rest of its message unreadable. */
const fact = z.custom<FeedFact>((value) => {
  if (typeof value !== 'object' || value === null || !('kind' in value) || typeof value.kind !== 'string') return false;
  return Object.hasOwn(knownFacts, value.kind)
    ? knownFacts[value.kind as FeedFact['kind']].safeParse(value).success
    : true;
});
const facts: z.ZodType<readonly FeedFact[]> = z.array(fact);

/**
 * The messages that nodes send each other, by type. What a lost message would have said comes to light when caches expire, or when nodes
 * look at the stores after a gap.
 */
const busMessages = {
  'tenants.changed': object,
  /** An address, in the form in which it is counted, whose creates are challenged until `untilMs`. */
  'address.suspect': z.object({ address: z.string(), untilMs: z.number() }),
  'login.changed': z.object({ loginId: z.string() }),
  /** Operators watch the feed on this node. They want these topics (all by default) and the events of these sessions. */
  'feed.watched': z.object({ node: z.string(), refs: texts, topics: texts.optional() }),
  /** What happened on a node, sent while somebody watches; `more` counts the facts that were left out. */
  'feed.told': z.object({ node: z.string(), facts, more: z.int() }),
  'session.moved': z.object({
    sessionId: z.string(),
    state: word<VoiceState>(),
    endReason: word<EndReason>().nullable(),
  }),
  /** A new visitor has said something, so the shorter time limit for silent new visitors no longer applies to the session. */
  'session.spoke': z.object({ sessionId: z.string() }),
  /** Another page has resumed the session; sockets that attached before `atMs` belong to the previous page. */
  'session.resumed': z.object({ sessionId: z.string(), atMs: z.number() }),
  /** Sent by each live node every few seconds; `node.gone` follows when it stops. */
  'node.here': z.object({
    node: operatorNode,
    /** A keyed hash of each setting of the node, by the name of its variable. */
    settings: z.record(z.string(), z.string()).optional(),
    /** The node has its own channel for the sessions that it follows. Older builds hear of every session on the channel that all nodes share. */
    followsSessions: z.boolean().optional(),
  }),
  'node.gone': z.object({ id: z.string() }),
  /** A node stopped, and other nodes must take over its calls. */
  'calls.orphaned': object,
  /** What clients are told about a session's call. */
  'call.told': z.object({
    sessionId: z.string(),
    callId: z.string(),
    event: word<'ready' | 'speaking' | 'listening' | 'over'>(),
  }),
  /** What interested sockets are told about a session's call; `settled` lists the tool calls that no longer need an answer. */
  'call.shown': z.object({ sessionId: z.string(), frames: z.array(callFrame), settled: z.array(z.string()) }),
  /**
   * Whether a node has sockets that want to hear of a session's call; valid for half a minute. `tools` lists the tool calls that pages have
   * still to answer, as far as the node knows.
   */
  'call.wanted': z.object({ sessionId: z.string(), node: z.string(), isOn: z.boolean(), tools: texts }),
  /** A page asks something of its session's call. The node that holds the call answers, but not after `untilMs`. */
  'call.asked': z.object({ sessionId: z.string(), request: z.string(), untilMs: z.number(), frame: callRequest }),
  'call.answered': z.object({ sessionId: z.string(), request: z.string(), code: callRefusal.nullable() }),
  /** An operator sends words to the agent in a session's call. The node that holds the call passes them on, but not after `untilMs`. */
  'call.whisper': z.object({ sessionId: z.string(), request: z.string(), untilMs: z.number(), text: z.string() }),
  /** The result of a whisper, sent to all nodes: the node that asked need not follow the session. */
  'call.whispered': z.object({ request: z.string(), isTold: z.boolean() }),
  /** An operator asks how many responses of a call run. The node that holds the call answers. */
  'call.count': z.object({ sessionId: z.string(), callId: z.string(), request: z.string() }),
  /** The answer, sent to all nodes; null while the node does not hear the call. */
  'call.counted': z.object({ request: z.string(), responses: z.int().nullable() }),
  /** A session's call will use up its quota at about `endsAtMs`, and its clients must be warned. */
  'quota.ending': z.object({ sessionId: z.string(), endsAtMs: z.number() }),
  /** A usage entry raised its subject's totals to `after`, past a share of some ceiling at which clients are warned. */
  'quota.neared': z.object({ subject: z.string(), after: usageTotals, entry: usageTotals }),
};

/** A node that does not pick up a request (`call.asked` or `call.whisper`) within this time never does. */
export const TAKEN_WITHIN_MS = 2000;
/** How long after that the answer to a request that was picked up may still be on its way. */
export const ANSWER_LATE_MS = 500;

type BusMessageType = keyof typeof busMessages;

export type BusMessage = {
  [T in BusMessageType]: { readonly type: T } & Readonly<z.infer<(typeof busMessages)[T]>>;
}[BusMessageType];

/** The session that a message is about; undefined for a message that every node must hear. */
export function sessionOf(message: BusMessage): string | undefined {
  return 'sessionId' in message ? message.sessionId : undefined;
}

/**
 * Reads a message from the bus. Nodes of another version, or other programs on the channel, may send anything.
 * @returns the message with all its fields, including those that this node does not know; undefined if this node does not know the message
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
