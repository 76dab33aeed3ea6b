import type { z } from 'zod';
import type { VoiceLimits } from '../../../../machines/voice-session/types.ts';
import { seesTenant } from '../../../auth/operators.ts';
import { ifAway } from '../../../kernel/errors.ts';
import { randomId, refOf } from '../../../kernel/ids.ts';
import { settleAll } from '../../../kernel/settle-all.ts';
import { iso } from '../../../kernel/time.ts';
import { operatorEndManyReply, operatorEndManyRequest } from '../../../protocol/operator/session.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type { ActResult } from '../../../stores/journal/act-contract.ts';
import { mayHaveHappened } from '../../../stores/journal/contract.ts';
import type { HistoryFilter, HistoryRow, Position, VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { longestMs } from '../../../voice/deadlines.ts';
import { invalidFields } from '../../invalid-request.ts';
import { defineRoute, type Call, type Result, type Route } from '../../route.ts';
import { entryOf } from './audit-entry.ts';
import { isEndedBy, type EndDeps } from './end.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';
import { describe, exampleSession } from './session-view.ts';
import { filterOf } from './sessions.ts';

/** One call ends at most so many, so that it is answered within seconds. */
const MAX_ENDED = 500;
const ENDED_AT_ONCE = 50;
const SAMPLE = 10;
/** More than was counted by this share is another thing than what was meant. */
const GROWTH = 0.1;

type Asked = z.output<typeof operatorEndManyRequest>;
type AskedCall = Call<Asked>;

/** Ends all open sessions that a filter fits: counted first, then in parts. */
export function endManyRoute(deps: EndDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/sessions/end',
    operationId: 'endSessions',
    summary: 'Count, or end, the open sessions of a filter',
    description:
      'With dryRun they are counted. Else at most 500 are ended; send the same again, with batchId, until remaining is 0. More than was expected, by a tenth, is COUNT_CHANGED, and nothing is ended. What was ended is answered also where the database went away meanwhile: isAudited is false then, the rows of the audit say null, and remaining is what was counted before.',
    tag: TAG,
    access: 'operator',
    right: 'change',
    perOperator: { name: 'end', perMinute: 60 },
    body: operatorEndManyRequest,
    bodyExample: { filter: { tenantId: 'acme', state: 'idle,stale' }, expected: 1204, reason: 'key leaked' },
    replies: {
      200: {
        description: 'What was counted, or ended',
        schema: operatorEndManyReply,
        example: {
          matched: 1204,
          byState: { engaged: 1100, idle: 100, stale: 4 },
          byTenant: { acme: 1204 },
          sample: [exampleSession],
          expected: 1204,
        },
      },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'COUNT_CHANGED', 'CONFLICT', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { filter: asked, all = false, dryRun = false, expected } = call.body;
        if (!all && Object.values(asked).every((value) => value === undefined))
          return invalidFields([{ path: 'all', message: 'must be true where the filter is empty' }]);
        const filter = openOnes(filterOf(asked, call.operator), call.request.atMs, deps.sessions.limits);
        const counts = await deps.history.countOpen(filter);
        if (dryRun) return count(call, filter, counts, deps);
        if (expected === undefined)
          return invalidFields([{ path: 'expected', message: 'is missing: count first, with dryRun' }]);
        if (counts.matched > expected * (1 + GROWTH)) return countChanged(counts.matched, expected);
        const { batchId } = call.body;
        if (batchId !== undefined && (await deps.journal.beginnerOf(batchId)) !== call.operator.actor)
          return notBegun();
        return end(call, filter, counts.matched, deps);
      }),
  });
}

function notBegun(): Refusal {
  return new Refusal(
    'CONFLICT',
    'This batchId is not of an act that you began: leave it out to begin one.',
    {},
    { fact: 'the act was begun by somebody else' },
  );
}

/** Those that may be open: what began longer ago has ended, so that no walk for them goes through the whole history. */
function openOnes(filter: HistoryFilter, atMs: number, limits: VoiceLimits): HistoryFilter {
  const { states = ['engaged', 'idle', 'stale'], fromMs = -Infinity } = filter;
  return {
    ...filter,
    states: states.filter((state) => state !== 'ended'),
    fromMs: Math.max(fromMs, atMs - longestMs(limits)),
  };
}

async function count(
  call: AskedCall,
  filter: HistoryFilter,
  counts: Awaited<ReturnType<VoiceHistory['countOpen']>>,
  { history, sessions: { limits } }: EndDeps,
): Promise<Result> {
  const rows = await findSome(filter, SAMPLE, history);
  const sample = rows.map(({ record, state }) => describe(record, state, call.request.atMs, call.operator, limits));
  return { status: 200, body: { ...counts, sample, expected: counts.matched } };
}

/** Pages that looked through enough without a hit are followed by the next. */
async function findSome(filter: HistoryFilter, limit: number, history: EndDeps['history']): Promise<HistoryRow[]> {
  const found: HistoryRow[] = [];
  let after: Position | undefined;
  do {
    const page = await history.list(filter, after, limit - found.length);
    found.push(...page.rows);
    after = page.next;
  } while (after !== undefined && found.length < limit);
  return found;
}

async function end(call: AskedCall, filter: HistoryFilter, matched: number, deps: EndDeps): Promise<Result> {
  const { acts, history, events } = deps;
  const { filter: asked, reason, batchId = `batch_${randomId()}` } = call.body;
  const ids = (await findSome(filter, MAX_ENDED, history)).map(({ record: { id, tenantId } }) => ({ id, tenantId }));
  const about = { reason, batchId };
  const whole = entryOf(call, 'sessions.end', { ...about, target: targetOf(asked), tenantId: tenantOf(call) });
  const parts = ids.map(({ id, tenantId }) => entryOf(call, 'session.end', { ...about, target: refOf(id), tenantId }));
  await acts.append([whole, ...parts]);
  events.operatorActed(call.operator.role, 'sessions.end', batchId, call.request.requestId);
  const results: (ActResult | null)[] = ids.map(() => 'failed');
  const ending = settleAll(
    [...ids.entries()],
    async ([at, { id }]) => {
      const { atMs, requestId } = call.request;
      const outcome = await deps.sessions
        .endForGood(id, 'closed_by_operator', atMs, requestId)
        .catch((fault: unknown) => {
          if (mayHaveHappened(fault)) results[at] = null;
          throw fault;
        });
      results[at] = isEndedBy(outcome) ? 'done' : 'unchanged';
    },
    ENDED_AT_ONCE,
  );
  const fault: unknown = await ending.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (fault !== undefined) events.faulted(fault, call.request.requestId, 'end of many sessions');
  const [ended = 0, failed = 0, unknown = 0] = (['done', 'failed', null] as const).map(
    (result) => results.filter((one) => one === result).length,
  );
  const settle = async (): Promise<boolean> => {
    for (const result of ['done', 'unchanged', 'failed'] as const)
      await acts.settle(
        parts.filter((_, at) => results[at] === result).map(({ id }) => id),
        result,
      );
    if (unknown > 0) return false;
    await acts.settle([whole.id], failed > 0 && ended === 0 ? 'failed' : ended === 0 ? 'unchanged' : 'done', ended);
    return true;
  };
  // They have ended, whether or not that can be written down and counted.
  const isAudited = await settle().catch(ifAway(() => false));
  const left = await history.countOpen(filter).catch(ifAway(() => ({ matched: Math.max(0, matched - ended) })));
  return { status: 200, body: { ended, failed: failed + unknown, remaining: left.matched, batchId, isAudited } };
}

/** The filter as its query would be; of a session its ref alone. */
function targetOf({ q, from, to, ...rest }: Asked['filter']): string {
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

/** Whose the act as a whole is: of one tenant where only one can be meant. */
function tenantOf({ body: { filter }, operator }: AskedCall): string | null {
  const { tenants } = operator;
  if (filter.tenantId !== undefined) return seesTenant(operator, filter.tenantId) ? filter.tenantId : null;
  return tenants !== '*' && tenants.length === 1 ? (tenants[0] ?? null) : null;
}

function countChanged(matched: number, expected: number): Refusal {
  const error = `${matched} sessions match now, and ${expected} were expected; count them again with dryRun.`;
  return new Refusal('COUNT_CHANGED', error, { matched });
}
