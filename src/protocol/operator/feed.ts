import { z } from 'zod';
import { sessionDeadline, sessionFilters } from './session.ts';
import { caller, endReasonOrNull, sessionName, sessionState } from '../session.ts';
import { count, instant } from '../values.ts';
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
  type: z.literal('watch'),
  topics: z
    .array(z.string().max(32))
    .max(16)
    .meta({ description: `Of ${FEED_TOPICS.join(', ')}; others are left out` }),
  filter: feedFilter.optional(),
  ref: z.string().regex(sessionName).nullish().meta({ description: 'A session whose events are told as well' }),
});

/** What became of a session. */
export const sessionChange = z.object({
  ref: z.string(),
  state: sessionState,
  was: sessionState.nullable().meta({ description: 'The state before; null where it was just opened' }),
  reason: endReasonOrNull,
  at: instant,
  tenantId: z.string(),
  agentId: z.string().nullable(),
  keyId: z.string().nullable(),
  caller,
  deadline: instant.nullable().meta({ description: 'When the clock alone changes it next' }),
  next: sessionDeadline,
});

export type SessionChange = z.infer<typeof sessionChange>;

const seq = count.meta({ description: 'One more with each frame of this socket' });

/** What the feed sends (docs/contract.md, section 8.1). */
export const feedFrames = {
  hello: z.object({
    type: z.literal('hello'),
    seq,
    at: instant,
    node: z.string().nullable().meta({ description: 'Null for who is shown some tenants only' }),
    role: z.string(),
    lossy: z
      .boolean()
      .meta({ description: 'Whether this node is cut off from the others: then it tells its own changes alone' }),
  }),
  tick: z.object({
    type: z.literal('tick'),
    seq,
    at: instant,
    byState: z
      .object({ engaged: count, idle: count, stale: count, ended: count })
      .nullable()
      .meta({ description: 'This and what follows is null where it cannot be read now' }),
    endingSoon: count
      .nullable()
      .meta({ description: 'Sessions that end by the clock within a minute if nothing comes in between' }),
    perMinute: z
      .object({ started: count, ended: count, refused: count })
      .nullable()
      .meta({ description: 'In the last whole minute' }),
    dependencies: z
      .array(dependencyState)
      .nullable()
      .meta({ description: 'Of the process that tells; null for who is shown some tenants only' }),
    lossy: z.boolean(),
  }),
  sessions: z.object({
    type: z.literal('sessions'),
    seq,
    changes: z.array(sessionChange),
    more: count.meta({ description: 'Sessions that changed as well and are not told' }),
  }),
  refusals: z.object({
    type: z.literal('refusals'),
    seq,
    byCode: z.record(z.string(), count).meta({ description: 'What was refused since the last such frame' }),
    samples: z.array(operatorRefusal).meta({ description: 'Some of these, at most 20' }),
    more: count.meta({ description: 'Refusals of byCode that are no samples' }),
  }),
  node: z.object({
    type: z.literal('node'),
    seq,
    node: operatorNode,
    gone: z.boolean().meta({ description: 'It left, or is not heard any more: this is how it was last' }),
  }),
  audit: z.object({ type: z.literal('audit'), seq, row: auditRow }),
  event: z.object({ type: z.literal('event'), seq, ref: z.string(), event: operatorEvent }),
  gap: z.object({
    type: z.literal('gap'),
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
