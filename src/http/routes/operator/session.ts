import { classify, nextDeadline } from '../../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import type { Calls } from '../../../calls/contract.ts';
import { refOf } from '../../../kernel/ids.ts';
import { operatorSessionDetail, type EndedBy } from '../../../protocol/operator/session.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type { Audit } from '../../../stores/audit/contract.ts';
import type { Ledger } from '../../../stores/ledger/contract.ts';
import type { SessionSetups } from '../../../stores/session-setups/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { callsOf, exampleCall } from './calls.ts';
import { END } from './end.ts';
import { exampleEvent, newestEvents, type OperatorEventsDeps } from './events.ts';
import {
  alwaysRefused,
  findNamed,
  NAMED,
  noParameters,
  sessionParams,
  TAG,
  withQuery,
  type NamedDeps,
} from './named.ts';
import { describe, exampleSession } from './session-view.ts';

export interface SessionDetailDeps extends NamedDeps, OperatorEventsDeps {
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly calls: Pick<Calls, 'ofSession'>;
  readonly ledger: Pick<Ledger, 'metersOf'>;
  readonly audit: Pick<Audit, 'latest'>;
}

/** All that is known of one session. */
export function sessionRoute(deps: SessionDetailDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}',
    operationId: 'getSession',
    summary: 'One session: record, state, next deadline, who ended it, its metadata and calls',
    description: `The next deadline is when the session changes by the clock alone; null once it has ended. ${NAMED}`,
    params: sessionParams,
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'The session',
        schema: operatorSessionDetail,
        example: {
          ...exampleSession,
          nextDeadline: '2030-01-01T12:15:00.000Z',
          endedBy: null,
          metadata: { page: 'pricing' },
          calls: [exampleCall],
          events: [exampleEvent],
          moreEvents: false,
          lost: [],
        },
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const record = await findNamed(call, deps);
        if (record instanceof Refusal) return record;
        const { limits } = deps.sessions;
        const { atMs } = call.request;
        const deadline = nextDeadline(record, limits);
        const body = {
          ...describe(record, classify(record, atMs, limits), atMs, call.operator),
          nextDeadline: Number.isFinite(deadline) ? new Date(deadline).toISOString() : null,
          endedBy: await endedBy(record, deps.audit),
          metadata: (await deps.setups.find(record.id))?.metadata ?? null,
          calls: await callsOf(record.id, deps),
          ...(await newestEvents(record, atMs, deps)),
        };
        return { status: 200, body };
      }),
  });
}

/** The act that ended the session: later ones found it ended. */
async function endedBy(record: VoiceRecord, audit: SessionDetailDeps['audit']): Promise<EndedBy> {
  if (record.endReason !== 'closed_by_operator' || record.endedAtMs === null) return null;
  const entry = await audit.latest(END, refOf(record.id), record.endedAtMs);
  if (entry === undefined) return null;
  const { actor, reason, atMs, requestId } = entry;
  return { actor, reason, at: new Date(atMs).toISOString(), requestId };
}
