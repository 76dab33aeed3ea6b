import type { z } from 'zod';
import { type OperatorSession, operatorSessionPage, sessionFilters } from '../../protocol/operator/session.ts';
import type { Operator } from '../roles.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import type { HistorySort, Position } from '../../stores/voice-history/contract.ts';
import { endingSoon } from '../../sessions/ending-soon.ts';
import { refOf } from '../../kernel/ids.ts';
import type { Route } from '../../http/route.ts';
import { operatorRoute } from '../operator-route.ts';
import { toOperatorSession, toHistoryFilter } from './view.ts';
import { sample } from '../../http/samples.ts';
import type { Services } from '../../http/services.ts';
import { pageEnd, readCursor } from '../pagination.ts';

export const exampleSession: OperatorSession = {
  id: sample.sm_session_id,
  ref: refOf(sample.sm_session_id),
  state: 'engaged',
  caller: 'widget',
  emailHash: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  tenantId: 'acme',
  agentId: 'support',
  keyId: 'site',
  provider: 'openai',
  upstreamId: 'sess_C9CwUVUzUzYIssh3ELY1d',
  endedAt: null,
  endReason: null,
  deadline: { at: '2030-01-01T12:15:00.001Z', to: 'ended', reason: 'duration_exceeded' },
  session: sample.session,
  usage: { tokens: 1833, dollars: 0.064187 },
};

type SessionQuery = z.output<typeof sessionFilters>;
type Sort = HistorySort | 'deadline';

export function sessionsRoute({ core, sessions }: Services): Route {
  const { history, usageReports } = core.stores;

  function pageOf(asked: SessionQuery, sort: Sort, after: Position | undefined, operator: Operator, atMs: number) {
    const filter = toHistoryFilter(asked, operator);
    if (sort !== 'deadline') return history.list(filter, after, asked.limit, sort);
    const untilMs = atMs + (asked.endingWithinSec ?? 0) * 1000;
    const { limits } = sessions;
    return endingSoon(filter, untilMs, after, asked.limit, {
      history,
      present: (rows) => sessions.present(rows),
      limits,
    });
  }

  return operatorRoute({
    method: 'GET',
    path: '/api/operator/sessions',
    operationId: 'listSessions',
    summary: 'List sessions, newest first or in another order',
    description:
      'One page at a time: pass nextCursor of one page as cursor for the next, until it is null. States are those last saved; the times of live sessions are current.',
    query: sessionFilters,
    reply: {
      description: 'A page of sessions',
      schema: operatorSessionPage,
      example: {
        sessions: [exampleSession],
        nextCursor: null,
        asOf: '2030-01-01T12:01:30.000Z',
        searchedTo: null,
      },
    },
    handle: async (call, asked) => {
      const sort = asked.sort ?? (asked.endingWithinSec === undefined ? '-startedAt' : 'deadline');
      if ((sort === 'deadline') !== (asked.endingWithinSec !== undefined))
        return wrongField('sort', 'is deadline with endingWithinSec, and never without');
      const after = readPosition(asked.cursor, sort);
      if (after instanceof Refusal) return after;
      const { atMs } = call.request;
      const page = await pageOf(asked, sort, after, call.operator, atMs);
      const [usage, present] = await Promise.all([
        usageReports.ofSessions(page.rows.map(({ record }) => record.id)),
        sessions.present(page.rows),
      ]);
      const shown = present.map(({ record, state }) =>
        toOperatorSession(record, state, atMs, call.operator, sessions.limits, usage.get(record.id)),
      );
      return { sessions: shown, ...pageEnd(page, atMs, (end) => cursorOf(end, sort)) };
    },
  });
}

/**
 * A cursor is only valid for its sort; the default sort is not named in it. It holds the ref of the last session, because the whole id
 * proves its caller: ids sort by their bytes, so a ref comes before all ids that begin with it, and a ref with a tilde after them.
 */
function cursorOf({ atMs, id }: Position, sort: Sort): readonly (string | number)[] {
  const place = placeOf(id, sort);
  return sort === '-startedAt' ? [atMs, place] : [atMs, place, sort];
}

/** Only the ref in a cursor counts: given a longer prefix of an id, the order of the rows would tell whether the whole id sorts before it. */
function readPosition(cursor: string | undefined, sort: Sort): Position | undefined | Refusal {
  const parts =
    sort === '-startedAt' ? readCursor(cursor, [0, ''] as const) : readCursor(cursor, [0, '', sort] as const, sort);
  return parts === undefined || parts instanceof Refusal ? parts : { atMs: parts[0], id: placeOf(parts[1], sort) };
}

function placeOf(id: string, sort: Sort): string {
  return sort.startsWith('-') ? refOf(id) : `${refOf(id)}~`;
}
