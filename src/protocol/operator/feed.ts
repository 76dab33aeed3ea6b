import { z } from 'zod';
import { sessionFilters } from './session.ts';
import { caller, endReasonOrNull, sessionName, sessionState } from '../session.ts';
import { count, instant } from '../values.ts';
import { auditRow, type AuditRow } from './audit.ts';
import { operatorEvent } from './event.ts';

/** The subprotocol of the operators' feed (docs/contract.md, section 8.1). */
export const FEED_SUBPROTOCOL = 'switchboard.operator.v1';
export const FEED_PATH = '/api/operator/feed';

/** Which sessions a watcher wants to hear of: as lists are filtered. */
export const feedFilter = sessionFilters.pick({
  state: true,
  tenantId: true,
  agentId: true,
  keyId: true,
  caller: true,
  reason: true,
});

/** As it is read. */
export type FeedFilter = z.output<typeof feedFilter>;
/** As a watcher sends it: lists are separated by commas. */
export type FeedFilterSent = z.input<typeof feedFilter>;

/** What a watcher sends: what it wants from now on, in the place of what it wanted before. Topics that are not known are left out. */
export const watchFrame = z.object({
  type: z.literal('watch'),
  topics: z.array(z.string().max(32)).max(16),
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
});

export type SessionChange = z.infer<typeof sessionChange>;

const seq = count.meta({ description: 'One more with each frame of this socket' });

/** What the feed sends (docs/contract.md, section 8.1). */
export const feedFrames = {
  hello: z.object({
    type: z.literal('hello'),
    seq,
    at: instant,
    node: z.string(),
    role: z.string(),
    lossy: z
      .boolean()
      .meta({ description: 'Whether this node is cut off from the others: then it tells its own changes alone' }),
  }),
  tick: z.object({
    type: z.literal('tick'),
    seq,
    at: instant,
    byState: z.object({ engaged: count, idle: count, stale: count, ended: count }).nullable(),
    lossy: z.boolean(),
  }),
  sessions: z.object({
    type: z.literal('sessions'),
    seq,
    changes: z.array(sessionChange),
    more: count.meta({ description: 'Sessions that changed as well and are not told' }),
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

/** A frame before it has its number. */
export type UnnumberedFrame = { [F in keyof Frames]: Omit<Frames[F], 'seq'> }[keyof Frames];

/** What nodes tell each other for the feed, while somebody watches. */
export type FeedFact =
  | { readonly kind: 'audit'; readonly row: AuditRow }
  | { readonly kind: 'session'; readonly change: SessionChange }
  | {
      readonly kind: 'event';
      readonly ref: string;
      readonly tenantId: string;
      readonly event: z.infer<typeof operatorEvent>;
    };

/** Close codes of the feed. */
export const feedCloseCode = {
  goingAway: 1012,
  badFrames: 4400,
  noLogin: 4401,
  noRole: 4403,
  tooMany: 4429,
  overloaded: 4503,
} as const;
