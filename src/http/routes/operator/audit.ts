import { tenantsOf, within } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import { auditFilters, auditPage, type AuditRow } from '../../../protocol/operator/audit.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { AUDIT_ACTIONS, type Audit } from '../../../stores/audit/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import { describeEntry } from './audit-entry.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';

export interface AuditDeps {
  readonly audit: Pick<Audit, 'list'>;
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
export function auditRoute({ audit }: AuditDeps): Route {
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
      withQuery(call, auditFilters, async ({ cursor, limit, from: fromMs, to: toMs, action, tenantId, ...filter }) => {
        const after = readCursor(cursor, [0, 0] as const);
        if (after instanceof Refusal) return after;
        const asOf = iso(call.request.atMs);
        const known = AUDIT_ACTIONS.find((one) => one === action);
        if (action !== undefined && known === undefined)
          return { status: 200, body: { rows: [], nextCursor: null, asOf, searchedTo: null } };
        const { entries, next, isPartial } = await audit.list(
          { ...filter, action: known, fromMs, toMs, tenants: tenantsOf(within(call.operator, tenantId)) },
          after && { atMs: after[0], ordinal: after[1] },
          limit,
        );
        const body = {
          rows: entries.map((entry) => describeEntry(entry, call.operator)),
          nextCursor: next === undefined ? null : writeCursor([next.atMs, next.ordinal]),
          asOf,
          searchedTo: isPartial && next !== undefined ? iso(next.atMs) : null,
        };
        return { status: 200, body };
      }),
  });
}
