import { iso } from '../../../kernel/time.ts';
import { eventSeenBy, nodeSeenBy, type Operator } from '../../../auth/operators.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { operatorEventPage, pageOfEvents, type OperatorEvent } from '../../../protocol/operator/event.ts';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { refOf } from '../../../kernel/ids.ts';
import type { Entry, Journal, JournalPage, JournalPosition, MachineName } from '../../../stores/journal/contract.ts';
import { viewOfEvent } from '../../../operator/journal/event-view.ts';
import { defineRoute, type Route } from '../../route.ts';
import { readPosition, writePosition } from './cursor.ts';
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
  readonly journal: Pick<Journal, 'list' | 'lostWithin'>;
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
        const after = readPosition(cursor);
        if (after instanceof Refusal) return after;
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const page = await eventsOf('voice-session', refOf(record.id), after, limit, deps.journal);
        return { status: 200, body: { events: viewsOf(page, call.operator), nextCursor: writePosition(page.next) } };
      }),
  });
}

type EventPage = JournalPage<'transition' | 'note'>;

/** The newest events of a session, and when some may be missing. */
export interface EventsKnown {
  readonly page: EventPage;
  readonly lost: readonly Entry<'lost'>[];
}

/** @throws Unavailable when the database is away */
export async function newestEvents(
  record: VoiceRecord,
  atMs: number,
  { journal }: OperatorEventsDeps,
): Promise<EventsKnown> {
  const [page, lost] = await Promise.all([
    eventsOf('voice-session', refOf(record.id), undefined, NEWEST, journal),
    journal.lostWithin(record.startedAtMs, record.endedAtMs ?? atMs),
  ]);
  return { page, lost };
}

export function describeEvents({ page, lost }: EventsKnown, operator: Operator) {
  return {
    events: viewsOf(page, operator),
    moreEvents: page.next !== undefined,
    lost: lost.map(({ node, atMs, detail }) => ({
      node: nodeSeenBy(operator, node),
      from: iso(detail.fromMs),
      to: iso(atMs),
      count: detail.count,
    })),
  };
}

/** What any machine did, the newest first: by its name, so that a reader can draw it. @throws Unavailable when the database is away */
export async function toldOf(machine: MachineName, actor: string, operator: Operator, journal: Pick<Journal, 'list'>) {
  const page = await eventsOf(machine, actor, undefined, NEWEST, journal);
  return { machine, events: viewsOf(page, operator), moreEvents: page.next !== undefined };
}

function eventsOf(
  machine: MachineName,
  target: string,
  after: JournalPosition | undefined,
  limit: number,
  journal: Pick<Journal, 'list'>,
): Promise<EventPage> {
  return journal.list({ kinds: ['transition', 'note'], tenants: '*', machine, target }, after, limit);
}

function viewsOf({ entries }: EventPage, operator: Operator): OperatorEvent[] {
  return entries.map((entry) => eventSeenBy(operator, viewOfEvent(entry, String(entry.ordinal))));
}
