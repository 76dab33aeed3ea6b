import { DAY_MS, iso } from '../../kernel/time.ts';
import { actorSeenBy, within } from '../roles.ts';
import { LONGEST_SPAN_MS, movedBetween } from './activity-spans.ts';
import { whatHappened, whatMoved } from './changes.ts';
import { changesSince, operatorChanges } from '../../protocol/operator/overview.ts';
import type { Journal, JournalQuery } from '../../stores/journal/contract.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { operatorRoute } from '../route.ts';
import type { Services } from '../../http/services.ts';

const MAX_DAYS = LONGEST_SPAN_MS / DAY_MS;
const MAX_HAPPENED = 200;

/** What differs from the span of the same length before, and what operators and processes did meanwhile. */
export function changesRoute({ core }: Services): Route {
  const { activity, journal } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/changes',
    operationId: 'listChanges',
    summary: 'Get what has changed since a given time',
    description: `Counts of at least ten that changed by half or more against the preceding span of equal length, of at most ${MAX_DAYS} days. If there is too much to add up the reply is QUERY_TOO_BROAD: ask for a shorter span. Users limited to some tenants see the counts of those, but neither processes nor actions of operators. With tenantId the reply has the counts of that tenant, and what operators did to it.`,
    query: changesSince,
    reply: {
      description: 'What changed and what happened',
      schema: operatorChanges,
      example: {
        from: '2029-12-31T12:00:00.000Z',
        to: '2030-01-01T12:00:00.000Z',
        previousFrom: '2029-12-30T12:00:00.000Z',
        moved: [{ what: 'ORIGIN_MISMATCH', now: 312, before: 30, factor: 10.4 }],
        happened: [
          {
            at: '2030-01-01T09:12:00.000Z',
            kind: 'node',
            sentence: 'A process started on voice-3: 0.1.0 → 0.1.1.',
            href: '/console/nodes',
          },
        ],
      },
    },
    refusals: ['QUERY_TOO_BROAD'],
    handle: async (call, { since, tenantId }) => {
      const { atMs } = call.request;
      const fromMs = since === undefined ? atMs - DAY_MS : Date.parse(since);
      if (fromMs >= atMs) return wrongField('since', 'must be in the past');
      if (atMs - fromMs > LONGEST_SPAN_MS)
        return new Refusal('QUERY_TOO_BROAD', `A span has at most ${MAX_DAYS} days here; ask with a later since.`);
      const seesAll = call.operator.tenants === '*';
      const { tenants } = within(call.operator, tenantId);
      const done: JournalQuery<'act'> = { kinds: ['act'], tenants, fromMs, beforeMs: atMs + 1 };
      const [moved, runs, known, acts] = await Promise.all([
        movedBetween(activity, fromMs, atMs, atMs, tenants),
        tenants === '*' ? startsWithin(fromMs, atMs, journal) : [],
        tenants === '*' ? startsWithin(0, fromMs - 1, journal) : [],
        seesAll ? journal.list(done, undefined, MAX_HAPPENED) : { entries: [] },
      ]);
      if (moved === undefined)
        return new Refusal('QUERY_TOO_BROAD', 'This is too much to add up; ask with a later since.');
      return {
        from: iso(fromMs),
        to: iso(atMs),
        previousFrom: iso(fromMs - (atMs - fromMs)),
        moved: whatMoved(moved),
        happened: whatHappened(
          runs,
          known,
          acts.entries.map(({ atMs: doneAtMs, code, of }) => ({
            atMs: doneAtMs,
            actor: actorSeenBy(call.operator, of.actor ?? ''),
            action: code,
            target: of.target ?? '',
          })),
        ).slice(0, MAX_HAPPENED),
      };
    },
  });
}

/** The processes that started within a span, newest first. */
async function startsWithin(fromMs: number, toMs: number, journal: Pick<Journal, 'list'>) {
  const wanted = { kinds: ['process'], tenants: '*', code: 'started', fromMs, beforeMs: toMs + 1 } as const;
  return (await journal.list(wanted, undefined, MAX_HAPPENED)).entries;
}
