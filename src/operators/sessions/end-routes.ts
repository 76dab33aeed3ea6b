import { Refusal, wrongField } from '../../protocol/refusal.ts';
import { operatorEndManyReply, operatorEndManyRequest, operatorEndReply } from '../../protocol/operator/session.ts';
import { viewOf } from '../../voice/records.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import { actBy, findNamed, NAMED, operatorRoute, sessionParams } from '../route.ts';
import { endMany, endSession, findSome } from './end.ts';
import { nameOfFilter, openOnly, tenantMeant, toHistoryFilter } from './filter.ts';
import { exampleSession } from './list-routes.ts';
import { toOperatorSession } from './view.ts';
import type { Services } from '../../http/services.ts';
import { onlyReason } from '../../protocol/fields.ts';

/** Example sessions that a count returns. */
const SAMPLE = 10;

/** Ends one session. */
export function endRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/end',
    operationId: 'endSessionAsOperator',
    summary: 'End one session',
    description: `Idempotent. Who ended it, when and why is recorded. ${NAMED}`,
    right: 'change',
    body: onlyReason.optional(),
    params: sessionParams,
    bodyExample: { reason: 'the visitor asked us to' },
    reply: {
      description: 'The session is over',
      schema: operatorEndReply,
      example: { ok: true, session: { ...sample.session, active: false }, alreadyEnded: false },
    },
    refusals: ['ORIGIN_MISMATCH', 'SESSION_NOT_FOUND', 'AMBIGUOUS'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const ended = await endSession(record, actBy(call), services);
      if (ended instanceof Refusal) return ended;
      const { alreadyEnded } = ended;
      return { ok: true, session: viewOf(ended.record, call.request.atMs), alreadyEnded };
    },
  });
}

/** Ends all open sessions that match a filter: first counts them, then ends them in parts. */
export function endManyRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/sessions/end',
    operationId: 'endSessions',
    summary: 'Count or end the open sessions that match a filter',
    description:
      'With dryRun they are only counted. Otherwise at most 500 are ended; send the request again, with batchId, until remaining is 0. If more match than expected, by over a tenth, the reply is COUNT_CHANGED and nothing is ended. If the database goes away meanwhile, the reply still says what was ended: isAudited is then false, the results in the audit are null, and remaining is the earlier count less what was ended.',
    right: 'change',
    perOperator: { name: 'end', perMinute: 60 },
    body: operatorEndManyRequest,
    bodyExample: { filter: { tenantId: 'acme', state: 'idle,stale' }, expected: 1204, reason: 'key leaked' },
    reply: {
      description: 'The sessions that were counted or ended',
      schema: operatorEndManyReply,
      example: {
        matched: 1204,
        byState: { engaged: 1100, idle: 100, stale: 4 },
        byTenant: { acme: 1204 },
        sample: [exampleSession],
        expected: 1204,
      },
    },
    refusals: ['ORIGIN_MISMATCH', 'COUNT_CHANGED', 'CONFLICT'],
    handle: async (call) => {
      const { filter: asked, all = false, dryRun = false, expected, batchId } = call.body;
      if (!all && Object.values(asked).every((value) => value === undefined))
        return wrongField('all', 'must be true where the filter is empty');
      const { request, operator } = call;
      const { limits } = services.sessions;
      const filter = openOnly(toHistoryFilter(asked, operator), request.atMs, limits);
      const counts = await services.core.stores.history.countOpen(filter);
      if (dryRun) {
        const rows = await services.sessions.present(await findSome(filter, SAMPLE, services.core.stores.history));
        const sample = rows.map(({ record, state }) =>
          toOperatorSession(record, state, request.atMs, operator, limits),
        );
        return { ...counts, sample, expected: counts.matched };
      }
      if (expected === undefined) return wrongField('expected', 'is missing: count first, with dryRun');
      const input = {
        filter,
        ...counts,
        expected,
        target: nameOfFilter(asked),
        tenantId: tenantMeant(asked, operator),
        batchId,
      };
      return endMany(input, actBy(call), services);
    },
  });
}
