import { seesWholeIds } from '../roles.ts';
import { parseEmail } from '../../protocol/email.ts';
import { searchReply, searchRequest } from '../../protocol/operator/search.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import { findByAddress, findByShape } from './find.ts';
import { actBy, operatorRoute } from '../route.ts';
import { act } from '../act.ts';
import type { Services } from '../../http/services.ts';

/** Searches for the text that an operator typed. */
export function searchRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/search',
    operationId: 'search',
    summary: 'Find what an id, a name or an e-mail address stands for',
    description:
      'Recognised by form: the id or ref of a session, req_…, auth_…, sess_…, call_…, batch_…, and 6 or more digits of a hash; then names of keys, tenants and actions. Only operators and service tokens can search for an e-mail address; the audit records that search by the hash of the address.',
    perOperator: { name: 'search', perMinute: 20, concerns: (body) => isAddress((body as { q: string }).q) },
    body: searchRequest,
    bodyExample: { q: sample.sm_session_id.slice(0, 42) },
    reply: {
      description: 'What was found, at most 20',
      schema: searchReply,
      example: {
        hits: [
          {
            kind: 'session',
            id: sample.sm_session_id.slice(0, 42),
            label: 'acme/support 7f3a…, engaged, 2030-01-01T12:00:00.000Z',
            href: `/console/sessions/${encodeURIComponent(sample.sm_session_id.slice(0, 42))}`,
          },
        ],
      },
    },
    refusals: ['ORIGIN_MISMATCH'],
    handle: async (call) => {
      const { q } = call.body;
      if (!isAddress(q)) return { hits: await findByShape(q, call.operator, services) };
      if (!seesWholeIds(call.operator))
        return new Refusal('FORBIDDEN', 'An address is looked for by operators (OPERATOR_EMAILS) alone.');
      const address = parseEmail(q);
      if (address === undefined) return { hits: [] };
      const target = services.identity.subjects.console(address);
      const hits = await act({ action: 'search.address', target, tenantId: null }, actBy(call), services, () =>
        findByAddress(address, services),
      );
      return { hits };
    },
  });
}

/** Anything with an @ counts as an address, even if incomplete, so that nobody can guess who may log in. */
function isAddress(q: string): boolean {
  return q.includes('@');
}
