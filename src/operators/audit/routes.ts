import { actorSeenBy, type Operator, within } from '../roles.ts';
import { auditFilters, auditPage, type ListedAuditRow } from '../../protocol/operator/audit.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { ACT_ACTIONS } from '../../stores/journal/act-contract.ts';
import type { JournalPage, JournalQuery } from '../../stores/journal/contract.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import { toAuditRow } from '../journal/view.ts';
import { operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import { journalCursor, pageEnd, readJournalCursor } from '../pagination.ts';

const exampleRow: ListedAuditRow = {
  at: '2030-01-01T12:05:02.004Z',
  actor: 'ops@example.com',
  actorRef: '9f86d081884c7d659a2feaa0c55ad015',
  role: 'operator',
  action: 'session.end',
  target: sample.sm_session_id.slice(0, 42),
  tenantId: 'acme',
  reason: 'the visitor asked us to',
  requestId: sample.requestId,
  batchId: null,
  result: 'done',
  count: null,
};

export function auditRoute({ identity: { subjects }, core }: Services): Route {
  const { journal } = core.stores;

  /** Null for operators who see the address masked, so that a ref does not let them tell people apart. */
  const refSeenBy = (operator: Operator, actor = ''): string | null =>
    actorSeenBy(operator, actor) === actor ? subjects.actor(actor) : null;

  /** The actor that the filters name, if the operator sees them unmasked; otherwise an operator could try addresses until one has results. */
  const findActor = async (operator: Operator, name?: string, ref?: string): Promise<string | undefined> =>
    (name === undefined ? await journal.whoActed() : [name]).find((actor) => {
      const own = refSeenBy(operator, actor);
      return own !== null && (ref ?? own) === own;
    });

  return operatorRoute({
    method: 'GET',
    path: '/api/operator/audit',
    operationId: 'listAudit',
    summary: 'List what operators did, newest first',
    description: 'Each row is written before the action, and its result is added afterwards.',
    query: auditFilters,
    reply: {
      description: 'A page of the audit',
      schema: auditPage,
      example: { rows: [exampleRow], nextCursor: null, asOf: '2030-01-01T12:06:00.000Z', searchedTo: null },
    },
    handle: async (
      call,
      { cursor, limit, from: fromMs, to: beforeMs, action, tenantId, actorRef, batches, ...filter },
    ) => {
      const after = readJournalCursor(cursor);
      if (after instanceof Refusal) return after;
      const { tenants } = within(call.operator, tenantId);
      const code = ACT_ACTIONS.find((one) => one === action);
      const isOfOne = filter.actor !== undefined || actorRef !== undefined;
      const actor = isOfOne ? await findActor(call.operator, filter.actor, actorRef) : undefined;
      // Parts of bulk acts are not folded into one row for requests that ask for a part, or for the parts of one act.
      const isFolded =
        batches === 'folded' && code !== 'session.end' && filter.target === undefined && filter.batchId === undefined;
      const wanted: JournalQuery<'act'> = {
        ...filter,
        actor,
        kinds: ['act'],
        code,
        fromMs,
        beforeMs,
        tenants,
        isFolded,
      };
      const isUnknown = (action !== undefined && code === undefined) || (isOfOne && actor === undefined);
      const page: JournalPage<'act'> = isUnknown
        ? { entries: [], next: undefined, isPartial: false }
        : await journal.list(wanted, after, limit);
      const rows = page.entries.map((entry) => ({
        ...toAuditRow(entry, call.operator),
        actorRef: refSeenBy(call.operator, entry.of.actor),
      }));
      return { rows, ...pageEnd(page, call.request.atMs, journalCursor) };
    },
  });
}
