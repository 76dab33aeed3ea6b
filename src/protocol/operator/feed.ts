import { z } from 'zod';
import { countsByState, sessionDeadline, sessionFilters } from './session.ts';
import { caller, endReasonOrNull, sessionName, sessionState } from '../session.ts';
import { agentId, frameType, keyId, nodeId, sessionRef, tenantId } from '../fields.ts';
import { count, instant, ordinal } from '../values.ts';
import { auditRow, type AuditRow } from './audit.ts';
import { operatorEvent } from './event.ts';
import { dependencyState, operatorNode } from './node.ts';
import { operatorRefusal, type OperatorRefusal } from './refusal.ts';

/** The subprotocol of the operators' feed (docs/contract.md, section 8.1). */
export const FEED_SUBPROTOCOL = 'switchboard.operator.v1';
export const FEED_PATH = '/api/operator/feed';

export const FEED_TOPICS = ['counts', 'sessions', 'refusals', 'nodes', 'audit'] as const;

export type FeedTopic = (typeof FEED_TOPICS)[number];

/** Which sessions a watcher wants to hear of: as lists are filtered. Refusals are filtered by tenant and key. */
export const feedFilter = sessionFilters.pick({
  state: true,
  tenantId: true,
  agentId: true,
  keyId: true,
  caller: true,
  reason: true,
});

/** The filter after parsing. */
export type FeedFilter = z.output<typeof feedFilter>;
/** As a watcher sends it: lists are separated by commas. */
export type FeedFilterSent = z.input<typeof feedFilter>;

/** What a watcher sends: what it wants from now on, in the place of what it wanted before. Topics that are not known are left out. */
export const watchFrame = z.object({
  type: frameType('watch'),
  topics: z
    .array(z.string().max(32))
    .max(16)
    .meta({
      description: `What is told: some of ${FEED_TOPICS.join(', ')}; others are left out`,
      examples: [['counts', 'sessions']],
    }),
  filter: feedFilter
    .optional()
    .meta({ description: 'Which sessions are told of; refusals are filtered by tenant and key alone' }),
  ref: z
    .string()
    .regex(sessionName)
    .nullish()
    .meta({ ...sessionRef.meta(), description: 'A session whose events are told as well' }),
});

/** What became of a session. */
export const sessionChange = z.object({
  ref: sessionRef,
  state: sessionState,
  was: sessionState.nullable().meta({ description: 'The state before; null where it was just opened' }),
  reason: endReasonOrNull,
  at: instant.meta({ description: 'When it changed' }),
  tenantId,
  agentId: agentId.nullable().meta({ description: 'Its agent; null where it has none' }),
  keyId: keyId.nullable().meta({ description: 'Its widget key; null for one of a console caller' }),
  caller,
  deadline: instant.nullable().meta({ description: 'When the clock alone changes it next' }),
  next: sessionDeadline,
});

export type SessionChange = z.infer<typeof sessionChange>;

const lossy = z
  .boolean()
  .meta({ description: 'Whether this node is cut off from the others: then it tells its own changes alone' });

const seq = ordinal.meta({ description: 'One more with each frame of this socket' });

/** What the feed sends (docs/contract.md, section 8.1). */
export const feedFrames = {
  hello: z.object({
    type: frameType('hello'),
    seq,
    at: instant.meta({ description: 'When it was sent' }),
    node: nodeId.nullable().meta({ description: 'The process that tells; null for who is shown some tenants only' }),
    role: z.string().meta({ description: 'The role of whoever watches', examples: ['operator'] }),
    lossy,
  }),
  tick: z.object({
    type: frameType('tick'),
    seq,
    at: instant.meta({ description: 'When it was sent' }),
    byState: countsByState
      .nullable()
      .meta({ description: 'Sessions by state; this and what follows is null where it cannot be read now' }),
    endingSoon: count
      .nullable()
      .meta({ description: 'Sessions that end by the clock within a minute if nothing comes in between' }),
    perMinute: z
      .object({
        started: count.meta({ description: 'Sessions that were opened' }),
        ended: count.meta({ description: 'Sessions that ended' }),
        refused: count.meta({ description: 'Requests that were refused' }),
      })
      .nullable()
      .meta({ description: 'What happened in the last whole minute' }),
    dependencies: z
      .array(dependencyState)
      .nullable()
      .meta({ description: 'What the process that tells stands on; null for who is shown some tenants only' }),
    lossy,
  }),
  sessions: z.object({
    type: frameType('sessions'),
    seq,
    changes: z.array(sessionChange).meta({ description: 'The last change of each session, at most 100' }),
    more: count.meta({ description: 'Sessions that changed as well and are not told' }),
  }),
  refusals: z.object({
    type: frameType('refusals'),
    seq,
    byCode: z.record(z.string(), count).meta({ description: 'What was refused since the last such frame, by code' }),
    samples: z.array(operatorRefusal).meta({ description: 'Some of these, at most 20' }),
    more: count.meta({ description: 'Refusals of byCode that are no samples' }),
  }),
  node: z.object({
    type: frameType('node'),
    seq,
    node: operatorNode.meta({ description: 'The process, as it tells of itself' }),
    gone: z.boolean().meta({ description: 'It left, or is not heard any more: this is how it was last' }),
  }),
  audit: z.object({
    type: frameType('audit'),
    seq,
    row: auditRow.meta({ description: 'What an operator did, as the audit has it' }),
  }),
  event: z.object({
    type: frameType('event'),
    seq,
    ref: sessionRef,
    event: operatorEvent.meta({ description: 'What happened to the session' }),
  }),
  gap: z.object({
    type: frameType('gap'),
    seq,
    dropped: count
      .nullable()
      .meta({ description: 'How many frames were left out; null when nobody knows. Fetch again' }),
  }),
};

type Frames = { [F in keyof typeof feedFrames]: z.infer<(typeof feedFrames)[F]> };

export type FeedFrame = Frames[keyof Frames];

/** A frame without its sequence number, which the socket gives it. */
export type UnnumberedFrame = { [F in keyof Frames]: Omit<Frames[F], 'seq'> }[keyof Frames];

/** So many refusals of a code; of nobody, or of a tenant and a key. */
export interface RefusedCount {
  readonly code: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  readonly n: number;
}

/** What nodes tell each other for the feed, while somebody watches. */
export type FeedFact =
  | { readonly kind: 'audit'; readonly row: AuditRow }
  | {
      readonly kind: 'refusals';
      readonly counts: readonly RefusedCount[];
      readonly samples: readonly OperatorRefusal[];
    }
  | { readonly kind: 'session'; readonly change: SessionChange }
  | {
      readonly kind: 'event';
      readonly ref: string;
      readonly tenantId: string;
      readonly event: z.infer<typeof operatorEvent>;
    };

export const feedCloseCode = {
  goingAway: 1012,
  badFrames: 4400,
  noLogin: 4401,
  noRole: 4403,
  tooMany: 4429,
  overloaded: 4503,
} as const;
