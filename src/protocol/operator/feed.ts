import { z } from 'zod';
import { countsByState, sessionDeadline, sessionFilters } from './session.ts';
import { caller, endReasonOrNull, sessionName, sessionState } from '../session.ts';
import { agentId, frameType, keyId, nodeId, sessionRef, tenantId, count, instant, ordinal, string } from '../fields.ts';
import { auditRow, type AuditRow } from './audit.ts';
import { operatorEvent } from './event.ts';
import { dependencyState, operatorNode } from './node.ts';
import { operatorRefusal, type OperatorRefusal } from './refusal.ts';

/** The subprotocol of the operators' feed (docs/contract.md, section 8.1). */
export const FEED_SUBPROTOCOL = 'switchboard.operator.v1';
export const FEED_PATH = '/api/operator/feed';

export const FEED_TOPICS = ['counts', 'sessions', 'refusals', 'nodes', 'audit'] as const;

export type FeedTopic = (typeof FEED_TOPICS)[number];

/** Which sessions a watcher wants to hear of, with the filters of lists. Refusals are filtered only by tenant and key. */
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
/** The filter as a watcher sends it, with lists separated by commas. */
export type FeedFilterSent = z.input<typeof feedFilter>;

/** A watcher sends what it wants from now on; this replaces its previous wish. Unknown topics are ignored. */
export const watchFrame = z.object({
  type: frameType('watch'),
  topics: z
    .array(z.string().max(32))
    .max(16)
    .meta({
      description: `What to send: any of ${FEED_TOPICS.join(', ')}; unknown topics are ignored`,
      examples: [['counts', 'sessions']],
    }),
  filter: feedFilter.optional().describe('Which sessions to report; refusals are filtered by tenant and key only'),
  ref: z
    .string()
    .regex(sessionName)
    .nullish()
    .meta({ ...sessionRef.meta(), description: 'A session whose events are sent as well' }),
});

/** What a session has become. */
export const sessionChange = z.object({
  ref: sessionRef,
  state: sessionState,
  was: sessionState.nullable().describe('The state before; null if the session was just opened'),
  reason: endReasonOrNull,
  at: instant.describe('When it changed'),
  tenantId,
  agentId: agentId.nullable().describe('Its agent; null if it has none'),
  keyId: keyId.nullable().describe('Its widget key; null for console callers'),
  caller,
  deadline: instant.nullable().describe('When the clock will next change it'),
  next: sessionDeadline,
});

export type SessionChange = z.infer<typeof sessionChange>;

const lossy = z.boolean().describe('Whether this node is cut off from the others and sends only its own changes');

const seq = ordinal.describe('A number that increases by one with each frame of this socket');

const frame = <const T extends string, S extends z.ZodRawShape>(type: T, fields: S) =>
  z.object({ type: frameType(type), seq, ...fields });

/** What the feed sends (docs/contract.md, section 8.1). */
export const feedFrames = {
  hello: frame('hello', {
    at: instant.describe('When it was sent'),
    node: nodeId.nullable().describe('The process that sends the feed; null for users limited to some tenants'),
    role: string('The role of the watcher', 'operator'),
    lossy,
  }),
  tick: frame('tick', {
    at: instant.describe('When it was sent'),
    byState: countsByState
      .nullable()
      .describe('Sessions by state; this and the fields below are null while they cannot be read'),
    endingSoon: count
      .nullable()
      .describe('Sessions that the clock will end within a minute unless something else happens'),
    perMinute: z
      .object({
        started: count.describe('Sessions opened'),
        ended: count.describe('Sessions ended'),
        refused: count.describe('Requests refused'),
      })
      .nullable()
      .describe('What happened in the last whole minute'),
    dependencies: z
      .array(dependencyState)
      .nullable()
      .describe('The dependencies of the sending process; null for users limited to some tenants'),
    lossy,
  }),
  sessions: frame('sessions', {
    changes: z.array(sessionChange).describe('The latest change of each session, at most 100'),
    more: count.describe('Further sessions that changed and are not listed'),
  }),
  refusals: frame('refusals', {
    byCode: z.record(z.string(), count).describe('Refusals since the last such frame, by code'),
    samples: z.array(operatorRefusal).describe('Some of these refusals, at most 20'),
    more: count.describe('Refusals counted in byCode but not in samples'),
  }),
  node: frame('node', {
    node: operatorNode.describe('The process, as it reports itself'),
    gone: z.boolean().describe('Whether it stopped or is no longer heard: this is then its last state'),
  }),
  audit: frame('audit', { row: auditRow.describe('The operator’s action, as in the audit') }),
  event: frame('event', {
    ref: sessionRef,
    event: operatorEvent.describe('What happened to the session'),
  }),
  gap: frame('gap', {
    dropped: count.nullable().describe('How many frames were dropped; null if unknown. Fetch the data again'),
  }),
};

type Frames = { [F in keyof typeof feedFrames]: z.infer<(typeof feedFrames)[F]> };

export type FeedFrame = Frames[keyof Frames];

/** A frame without its sequence number, which the socket adds. */
export type UnnumberedFrame = { [F in keyof Frames]: Omit<Frames[F], 'seq'> }[keyof Frames];

/** How many refusals with a code there were, for one tenant and key or without either. */
export interface RefusedCount {
  readonly code: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  readonly n: number;
}

/** What nodes tell each other for the operators' feed while somebody watches. */
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
