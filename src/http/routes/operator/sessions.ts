import { operatorSessionPage, sessionFilters } from '../../../protocol/operator/session.ts';
import { tenantsOf } from '../../../auth/operators.ts';
import type { VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { invalidFields } from '../../invalid-request.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';
import { describe, exampleSession } from './session-view.ts';

export interface SessionListDeps {
  readonly history: Pick<VoiceHistory, 'list'>;
}

/** The list of sessions by filters. */
export function sessionsRoute({ history }: SessionListDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions',
    operationId: 'listSessions',
    summary: 'Sessions, newest first',
    description: 'A page at a time: pass nextCursor of one page as cursor for the next, until it is null.',
    tag: TAG,
    access: 'operator',
    query: sessionFilters,
    replies: {
      200: {
        description: 'A page of sessions',
        schema: operatorSessionPage,
        example: { sessions: [exampleSession], nextCursor: null },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, sessionFilters, async ({ cursor, limit, q: idPrefix, ...filter }) => {
        const page = await history.list({ ...filter, idPrefix, tenants: tenantsOf(call.operator) }, cursor, limit);
        if (page === undefined)
          return invalidFields([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
        const sessions = page.rows.map((row) => describe(row.record, row.state, call.request.atMs, call.operator));
        return { status: 200, body: { sessions, nextCursor: page.nextCursor ?? null } };
      }),
  });
}
