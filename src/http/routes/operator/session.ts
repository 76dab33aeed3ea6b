import { classify, nextDeadline } from '../../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { actorSeenBy } from '../../../auth/operators.ts';
import { refOf } from '../../../kernel/ids.ts';
import { MINUTE_MS, iso } from '../../../kernel/time.ts';
import { operatorSessionDetail, type EndedBy } from '../../../protocol/operator/session.ts';
import type { Entry, Journal } from '../../../stores/journal/contract.ts';
import { limitsInForce, type LimitsInForceDeps } from '../../../operator/limits-in-force.ts';
import { viewOfRefusal } from '../../../operator/journal/refusal-view.ts';
import type { SessionSetups } from '../../../stores/session-setups/contract.ts';
import type { UsageReports } from '../../../stores/usage-reports/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { describeEntry } from './audit-entry.ts';
import { callsOf, describeCalls, exampleCall, type OperatorCallsDeps } from './calls.ts';
import { describeEvents, exampleEvent, newestEvents, type OperatorEventsDeps } from './events.ts';
import { alwaysRefused, NAMED, ofNamed, sessionParams, TAG, type NamedDeps } from './named.ts';
import { describe, exampleSession } from './session-view.ts';
import { actOf, whyOf, type WhyDeps } from './why.ts';

export interface SessionDetailDeps
  extends NamedDeps, OperatorEventsDeps, OperatorCallsDeps, WhyDeps, LimitsInForceDeps {
  readonly sessions: NamedDeps['sessions'];
  readonly ledger: OperatorCallsDeps['ledger'] & WhyDeps['ledger'];
  readonly journal: Pick<Journal, 'list' | 'lostWithin' | 'latestAct'>;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly usageReports: Pick<UsageReports, 'ofSessions'>;
}

/** The newest acts on a session come with it. */
const MAX_ACTS = 5;
/** And the newest refusals, also of a client that has not heard of the end. */
const MAX_REFUSALS = 5;
const AFTER_END_MS = MINUTE_MS;

/** All that is known of one session. */
export function sessionRoute(deps: SessionDetailDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}',
    operationId: 'getSession',
    summary: 'One session: record, state, why it ended, next deadline, its metadata, calls and events',
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
          why: {
            sentence: 'Still open: it ends 2030-01-01 12:15:00 UTC, when 15 min (MAX_SESSION_MINUTES) are over.',
            facts: [
              'Opened 2030-01-01 12:00:00 UTC, open for 90 s; last heartbeat 2030-01-01 12:01:30 UTC, last activity 2030-01-01 12:01:30 UTC.',
            ],
          },
          audit: [],
          refusals: [],
          limits: {
            maxMinutes: { value: 15, setBy: 'MAX_SESSION_MINUTES' },
            concurrentSessions: { value: 2, setBy: 'limits.concurrentSessions' },
            'totals.dollarsDaily': { value: 100, setBy: 'totals.dollarsDaily' },
          },
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
      ofNamed(call, deps, async (record) => {
        const { limits } = deps.sessions;
        const { atMs } = call.request;
        const deadline = nextDeadline(record, limits);
        const [calls, events, found, setup, acts, usage, refused] = await Promise.all([
          callsOf(record.id, deps),
          newestEvents(record, atMs, deps),
          actOf(record, deps),
          deps.setups.find(record.id),
          deps.journal.list({ kinds: ['act'], tenants: '*', target: refOf(record.id) }, undefined, MAX_ACTS),
          deps.usageReports.ofSessions([record.id]),
          deps.journal.list(
            {
              kinds: ['refusal'],
              subject: record.subject,
              fromMs: record.startedAtMs,
              beforeMs: Math.min(atMs, (record.endedAtMs ?? atMs) + AFTER_END_MS) + 1,
              tenants: call.operator.tenants,
            },
            undefined,
            MAX_REFUSALS,
          ),
        ]);
        const act = found && { ...found, of: { ...found.of, actor: actorSeenBy(call.operator, found.of.actor ?? '') } };
        const body = {
          ...describe(record, classify(record, atMs, limits), atMs, call.operator, limits, usage.get(record.id)),
          nextDeadline: Number.isFinite(deadline) ? iso(deadline) : null,
          endedBy: endedBy(record, act),
          why: await whyOf(
            { record, ...calls, ...events, act, used: usage.get(record.id), atMs, operator: call.operator },
            deps,
          ),
          audit: acts.entries.map((entry) => describeEntry(entry, call.operator)),
          refusals: refused.entries.map((one) => viewOfRefusal(one, call.operator.tenants)),
          limits: limitsInForce(record, limits, deps),
          metadata: setup?.metadata ?? null,
          calls: describeCalls(calls, call.operator),
          ...describeEvents(events, call.operator),
        };
        return { status: 200, body };
      }),
  });
}

function endedBy({ endReason }: VoiceRecord, act: Entry<'act'> | undefined): EndedBy {
  if (endReason !== 'closed_by_operator' || act === undefined) return null;
  const { of, detail, atMs, requestId } = act;
  return { actor: of.actor ?? '', reason: detail.reason, at: iso(atMs), requestId };
}
