import { eventSeenBy, nodeSeenBy, type Operator } from '../../../auth/operators.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { operatorEventPage, pageOfEvents, type OperatorEvent } from '../../../protocol/operator/event.ts';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { refOf } from '../../../kernel/ids.ts';
import { iso } from '../../../kernel/time.ts';
import type { ActorEventPage, ActorEvents, LostEvents, MachineName } from '../../../stores/actor-events/contract.ts';
import { viewOfEvent } from '../../../operator/event-view.ts';
import { invalidFields } from '../../invalid-request.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, findNamed, NAMED, sessionParams, TAG, withQuery, type NamedDeps } from './named.ts';

/** The newest events that a session itself comes with. */
const NEWEST = 200;

export const exampleEvent: OperatorEvent = {
  id: '1041',
  at: '2030-01-01T12:05:02.004Z',
  kind: 'moved',
  event: 'CLOCK',
  from: 'engaged',
  to: 'idle',
  steps: [
    {
      event: 'CLOCK',
      from: 'live',
      to: 'live',
      guard: 'isAfterDeadline',
      actions: ['followClock'],
    },
    { event: '', from: 'live.engaged', to: 'live.dormant', guard: 'hasGoneIdle', actions: [] },
  ],
  guards: [
    { name: 'isAfterDeadline', passed: true },
    { name: 'isPastDuration', passed: false },
    { name: 'hasGoneIdle', passed: true },
  ],
  record: {
    version: 21,
    lastSeenAt: '2030-01-01T12:05:01.120Z',
    lastActivityAt: '2030-01-01T12:00:02.000Z',
    settledAt: '2030-01-01T12:05:02.004Z',
  },
  detail: { reason: null },
  node: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
  requestId: null,
};

export interface OperatorEventsDeps {
  readonly actorEvents: Pick<ActorEvents, 'of' | 'lostWithin'>;
}

/** A page of what a session's machine did. */
export function eventsRoute(deps: NamedDeps & OperatorEventsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}/events',
    operationId: 'listSessionEvents',
    summary: "What a session's machine did, newest first",
    description: `Each event that moved it, with the guards that were asked. ${NAMED}`,
    params: sessionParams,
    query: pageOfEvents,
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'A page of events',
        schema: operatorEventPage,
        example: { events: [exampleEvent], nextCursor: null },
      },
    },
    refusals: ['INVALID_REQUEST', 'SESSION_NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, pageOfEvents, async ({ cursor, limit }) => {
        const before = cursor === undefined ? undefined : readOrdinal(cursor);
        if (cursor !== undefined && before === undefined)
          return invalidFields([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const page = await deps.actorEvents.of('voice-session', refOf(record.id), before, limit);
        const last = page.events.at(-1);
        const nextCursor = page.hasMore && last !== undefined ? String(last.ordinal) : null;
        return {
          status: 200,
          body: { events: viewsOf(page, call.operator), nextCursor },
        };
      }),
  });
}

/** The newest events of a session, and when some may be missing. */
export interface EventsKnown {
  readonly page: ActorEventPage;
  readonly lost: readonly LostEvents[];
}

/** @throws Unavailable when the database is away */
export async function newestEvents(
  record: VoiceRecord,
  atMs: number,
  { actorEvents }: OperatorEventsDeps,
): Promise<EventsKnown> {
  const [page, lost] = await Promise.all([
    actorEvents.of('voice-session', refOf(record.id), undefined, NEWEST),
    actorEvents.lostWithin(record.startedAtMs, record.endedAtMs ?? atMs),
  ]);
  return { page, lost };
}

export function describeEvents({ page, lost }: EventsKnown, operator: Operator) {
  return {
    events: viewsOf(page, operator),
    moreEvents: page.hasMore,
    lost: lost.map(({ node, fromMs, toMs, count }) => ({
      node: nodeSeenBy(operator, node),
      from: iso(fromMs),
      to: iso(toMs),
      count,
    })),
  };
}

/** What any machine did, the newest first: by its name, so that a reader can draw it. @throws Unavailable when the database is away */
export async function toldOf(
  machine: MachineName,
  actor: string,
  operator: Operator,
  actorEvents: Pick<ActorEvents, 'of'>,
) {
  const page = await actorEvents.of(machine, actor, undefined, NEWEST);
  return { machine, events: viewsOf(page, operator), moreEvents: page.hasMore };
}

function viewsOf({ events }: Pick<ActorEventPage, 'events'>, operator: Operator): OperatorEvent[] {
  return events.map((event) => eventSeenBy(operator, viewOfEvent(event, String(event.ordinal))));
}

function readOrdinal(cursor: string): number | undefined {
  const ordinal = Number(cursor);
  return /^\d{1,15}$/.test(cursor) ? ordinal : undefined;
}
