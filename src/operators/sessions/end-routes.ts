import type { z } from 'zod';
import type { VoiceFact, VoiceLimits } from '../../../machines/voice-session/types.ts';
import type { Call, Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import type { Services } from '../../http/services.ts';
import { ifAway } from '../../kernel/errors.ts';
import { randomId, refOf } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import { onlyReason } from '../../protocol/fields.ts';
import {
  operatorEndManyReply,
  operatorEndManyRequest,
  operatorEndReply,
  type OperatorSession,
} from '../../protocol/operator/session.ts';
import { noSuchSession, Refusal, wrongField } from '../../protocol/refusal.ts';
import type { HistoryFilter, HistoryRow, Position, VoiceHistory } from '../../stores/voice-history/contract.ts';
import { longestMs } from '../../sessions/deadlines.ts';
import { viewOf } from '../../sessions/records.ts';
import { act, actOnMany, type ActBy } from '../journal/acts.ts';
import { seesTenant, type Operator } from '../roles.ts';
import { actBy, findNamed, NAMED, operatorRoute, sessionParams } from '../operator-route.ts';
import { exampleSession } from './list-routes.ts';
import { toHistoryFilter, toOperatorSession, type SessionQuery } from './view.ts';

/** Sessions that one request ends at most, so that it is answered within seconds. */
const MAX_ENDED = 500;
/** If the number of matches has grown by more than this share since the count, the operator must count again. */
const GROWTH = 0.1;
/** Example sessions that a count returns. */
const SAMPLE = 10;

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
    refusals: ['SESSION_NOT_FOUND', 'AMBIGUOUS'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, { id, tenantId }) => {
      const by = actBy(call);
      const change = { action: 'session.end', target: refOf(id), tenantId } as const;
      const ended = await act(change, by, services, () => end(id, by, services), resultOf);
      if (ended === undefined) return noSuchSession();
      return { ok: true, session: viewOf(ended.record, by.atMs), alreadyEnded: resultOf(ended) === 'unchanged' };
    },
  });
}

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
    refusals: ['COUNT_CHANGED', 'CONFLICT'],
    handle: async (call) => {
      const { filter: asked, all = false, dryRun = false, expected } = call.body;
      if (!all && Object.values(asked).every((value) => value === undefined))
        return wrongField('all', 'must be true where the filter is empty');
      const filter = openOnly(toHistoryFilter(asked, call.operator), call.request.atMs, services.sessions.limits);
      const counts = await services.core.stores.history.countOpen(filter);
      const { matched } = counts;
      if (dryRun) return { ...counts, sample: await sampleOf(filter, call, services), expected: matched };
      if (expected === undefined) return wrongField('expected', 'is missing: count first, with dryRun');
      return matched > expected * (1 + GROWTH)
        ? countChanged(matched, expected)
        : endMany(filter, matched, call, services);
    },
  });
}

/** Some of the sessions that match, as the operator sees them. */
async function sampleOf(
  filter: HistoryFilter,
  { operator, request: { atMs } }: Call,
  { core, sessions }: Services,
): Promise<OperatorSession[]> {
  const rows = await sessions.present(await findSome(filter, SAMPLE, core.stores.history));
  return rows.map(({ record, state }) => toOperatorSession(record, state, atMs, operator, sessions.limits));
}

/**
 * Ends at most 500 sessions that match a filter. Reports how many were ended even if the database goes away meanwhile.
 * @param matched how many match now
 * @returns a Refusal CONFLICT for an act that somebody else began
 * @throws Unavailable when the database is away before the first end
 */
async function endMany(
  filter: HistoryFilter,
  matched: number,
  call: Call<z.output<typeof operatorEndManyRequest>>,
  services: Services,
): Promise<z.infer<typeof operatorEndManyReply> | Refusal> {
  const { body, operator } = call;
  const { history, journal } = services.core.stores;
  const by = actBy(call);
  if (body.batchId !== undefined && (await journal.beginnerOf(body.batchId)) !== by.actor) return notBegun();
  const batchId = body.batchId ?? `batch_${randomId()}`;
  const target = nameOfFilter(body.filter);
  const rows = await findSome(filter, MAX_ENDED, history);
  const { done, failed, isAudited } = await actOnMany(
    { action: 'sessions.end', target, tenantId: tenantMeant(body.filter, operator), batchId },
    rows.map(({ record: { id, tenantId } }) => ({
      act: { action: 'session.end', target: refOf(id), tenantId },
      change: async () => resultOf(await end(id, by, services)),
    })),
    by,
    services,
  );
  const left = await history.countOpen(filter).catch(ifAway(() => ({ matched: Math.max(0, matched - done) })));
  return { ended: done, failed, remaining: left.matched, batchId, isAudited };
}

function end(id: string, by: ActBy, { sessions }: Services) {
  return sessions.endForGood(id, 'closed_by_operator', by.atMs, by.requestId);
}

/** `done` where this act ended the session, which may have ended before or may be due to end by the clock. */
function resultOf(outcome: { readonly facts: readonly VoiceFact[] } | undefined): 'done' | 'unchanged' {
  const isDone = outcome?.facts.some((fact) => fact.type === 'session.ended' && fact.reason === 'closed_by_operator');
  return isDone === true ? 'done' : 'unchanged';
}

/** Reads on after pages that stopped early without a hit. */
async function findSome(
  filter: HistoryFilter,
  limit: number,
  history: Pick<VoiceHistory, 'list'>,
): Promise<HistoryRow[]> {
  const found: HistoryRow[] = [];
  let after: Position | undefined;
  do {
    const page = await history.list(filter, after, limit - found.length);
    found.push(...page.rows);
    after = page.next;
  } while (after !== undefined && found.length < limit);
  return found;
}

function countChanged(matched: number, expected: number): Refusal {
  const error = `${matched} sessions match now, and ${expected} were expected; count them again with dryRun.`;
  return new Refusal('COUNT_CHANGED', error, { matched });
}

function notBegun(): Refusal {
  return new Refusal(
    'CONFLICT',
    'This batchId is not of an act that you began: leave it out to begin one.',
    {},
    { fact: 'the act was begun by somebody else' },
  );
}

/** Limits a filter to sessions that may be open. Older ones have ended, so that the search does not read the whole history. */
function openOnly(filter: HistoryFilter, atMs: number, limits: VoiceLimits): HistoryFilter {
  const { states = ['engaged', 'idle', 'stale'], fromMs = -Infinity } = filter;
  return {
    ...filter,
    states: states.filter((state) => state !== 'ended'),
    fromMs: Math.max(fromMs, atMs - longestMs(limits)),
  };
}

/** The filter written as a query; a session is named by its ref only. */
function nameOfFilter({ q, from, to, ...rest }: SessionQuery): string {
  const parts = {
    ...rest,
    from: from === undefined ? undefined : iso(from),
    to: to === undefined ? undefined : iso(to),
    q: q === undefined ? undefined : refOf(q),
  };
  const named = Object.entries(parts).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${String(value)}`],
  );
  return named.length === 0 ? 'all' : named.join('&');
}

/** The tenant whose sessions a filter matches, where it can only be one. */
function tenantMeant({ tenantId }: SessionQuery, operator: Operator): string | null {
  const { tenants } = operator;
  if (tenantId !== undefined) return seesTenant(operator, tenantId) ? tenantId : null;
  return tenants !== '*' && tenants.length === 1 ? (tenants[0] ?? null) : null;
}
