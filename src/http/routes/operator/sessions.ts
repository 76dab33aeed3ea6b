import type { z } from 'zod';
import { operatorSessionPage, sessionFilters } from '../../../protocol/operator/session.ts';
import { tenantsOf, type Operator } from '../../../auth/operators.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type {
  HistoryFilter,
  HistoryPage,
  HistorySort,
  Position,
  VoiceHistory,
} from '../../../stores/voice-history/contract.ts';
import { endingSoon } from '../../../voice/ending-soon.ts';
import type { VoiceSessions } from '../../../voice/sessions.ts';
import type { UsageReports } from '../../../stores/usage-reports/contract.ts';
import { refOf } from '../../../kernel/ids.ts';
import { iso } from '../../../kernel/time.ts';
import { invalidFields } from '../../invalid-request.ts';
import { defineRoute, type Route } from '../../route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';
import { describe, exampleSession } from './session-view.ts';

export interface SessionListDeps {
  readonly history: Pick<VoiceHistory, 'list' | 'silentSince'>;
  readonly sessions: Pick<VoiceSessions, 'limits'>;
  readonly usageReports: Pick<UsageReports, 'ofSessions'>;
}

type Asked = z.output<typeof sessionFilters>;
type Sort = HistorySort | 'deadline';

/** The list of sessions by filters. */
export function sessionsRoute({ history, sessions, usageReports }: SessionListDeps): Route {
  function pageOf(asked: Asked, sort: Sort, after: Position | undefined, operator: Operator, atMs: number) {
    const filter = filterOf(asked, operator);
    if (sort !== 'deadline') return history.list(filter, after, asked.limit, sort);
    const untilMs = atMs + (asked.endingWithinSec ?? 0) * 1000;
    return endingSoon(filter, untilMs, after, asked.limit, { history, limits: sessions.limits });
  }

  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions',
    operationId: 'listSessions',
    summary: 'Sessions, newest first or as asked',
    description:
      'A page at a time: pass nextCursor of one page as cursor for the next, until it is null. Their states are those that were saved last.',
    tag: TAG,
    access: 'operator',
    query: sessionFilters,
    replies: {
      200: {
        description: 'A page of sessions',
        schema: operatorSessionPage,
        example: {
          sessions: [exampleSession],
          nextCursor: null,
          asOf: '2030-01-01T12:01:30.000Z',
          searchedTo: null,
        },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, sessionFilters, async (asked) => {
        const sort = asked.sort ?? (asked.endingWithinSec === undefined ? '-startedAt' : 'deadline');
        if ((sort === 'deadline') !== (asked.endingWithinSec !== undefined))
          return invalidFields([{ path: 'sort', message: 'is deadline with endingWithinSec, and never without' }]);
        const after = readPosition(asked.cursor, sort);
        if (after instanceof Refusal) return after;
        const { atMs } = call.request;
        const page = await pageOf(asked, sort, after, call.operator, atMs);
        const usage = await usageReports.ofSessions(page.rows.map(({ record }) => record.id));
        const shown = page.rows.map(({ record, state }) =>
          describe(record, state, atMs, call.operator, sessions.limits, usage.get(record.id)),
        );
        return { status: 200, body: { sessions: shown, ...toldOf(page, sort, atMs) } };
      }),
  });
}

/** What was asked for, of what the operator is shown. */
export function filterOf(
  {
    state,
    reason,
    tenantId,
    agentId,
    keyId,
    caller,
    subject,
    from,
    to,
    q,
  }: Partial<Omit<Asked, 'cursor' | 'limit' | 'sort' | 'endingWithinSec'>>,
  operator: Operator,
): HistoryFilter {
  const tenants = tenantsOf(operator);
  return {
    states: state,
    reasons: reason,
    tenantId,
    tenants,
    agentId,
    keyId,
    caller,
    subject,
    fromMs: from,
    toMs: to,
    idPrefix: q,
  };
}

function toldOf({ next, isPartial }: HistoryPage, sort: Sort, atMs: number) {
  return {
    nextCursor: next === undefined ? null : writePosition(next, sort),
    asOf: iso(atMs),
    searchedTo: isPartial && next !== undefined ? iso(next.atMs) : null,
  };
}

/**
 * The cursor of one sort is none of another; the usual one is not named in it. It holds the ref of the last session, because the whole id
 * proves its caller: ids sort by their bytes, where a ref comes before all ids that begin with it, and with a tilde after them.
 */
function writePosition({ atMs, id }: Position, sort: Sort): string {
  const place = sort.startsWith('-') ? refOf(id) : `${refOf(id)}~`;
  return writeCursor(sort === '-startedAt' ? [atMs, place] : [atMs, place, sort]);
}

function readPosition(cursor: string | undefined, sort: Sort): Position | undefined | Refusal {
  const parts =
    sort === '-startedAt' ? readCursor(cursor, [0, ''] as const) : readCursor(cursor, [0, '', sort] as const, sort);
  return parts === undefined || parts instanceof Refusal ? parts : { atMs: parts[0], id: parts[1] };
}
