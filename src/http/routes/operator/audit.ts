import { iso } from '../../../kernel/time.ts';
import { within } from '../../../auth/operators.ts';
import { auditFilters, auditPage, type AuditRow } from '../../../protocol/operator/audit.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { ACT_ACTIONS } from '../../../stores/journal/act-contract.ts';
import type { Journal } from '../../../stores/journal/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import { describeEntry } from './audit-entry.ts';
import { readPosition, writePosition } from './cursor.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';

export interface AuditDeps {
  readonly journal: Pick<Journal, 'list'>;
}

const exampleRow: AuditRow = {
  at: '2030-01-01T12:05:02.004Z',
  actor: 'ops@example.com',
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

/** Who changed what. */
export function auditRoute({ journal }: AuditDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/audit',
    operationId: 'listAudit',
    summary: 'What operators did, newest first',
    description: 'Each row was written before what it tells of, and its result after.',
    tag: TAG,
    access: 'operator',
    query: auditFilters,
    replies: {
      200: {
        description: 'A page of the audit',
        schema: auditPage,
        example: { rows: [exampleRow], nextCursor: null, asOf: '2030-01-01T12:06:00.000Z', searchedTo: null },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(
        call,
        auditFilters,
        async ({ cursor, limit, from: fromMs, to: beforeMs, action, tenantId, ...filter }) => {
          const after = readPosition(cursor);
          if (after instanceof Refusal) return after;
          const asOf = iso(call.request.atMs);
          const known = ACT_ACTIONS.find((one) => one === action);
          if (action !== undefined && known === undefined)
            return { status: 200, body: { rows: [], nextCursor: null, asOf, searchedTo: null } };
          const { tenants } = within(call.operator, tenantId);
          const { entries, next, isPartial } = await journal.list(
            { ...filter, kinds: ['act'], code: known, fromMs, beforeMs, tenants },
            after,
            limit,
          );
          const body = {
            rows: entries.map((entry) => describeEntry(entry, call.operator)),
            nextCursor: writePosition(next),
            asOf,
            searchedTo: isPartial && next !== undefined ? iso(next.atMs) : null,
          };
          return { status: 200, body };
        },
      ),
  });
}
