import { whisperRequest } from '../../protocol/operator/session.ts';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { actBy, findNamed, NAMED, operatorRoute, sessionParams } from '../route.ts';
import { whisper } from './whisper.ts';
import { done } from '../../protocol/fields.ts';

/** Whispers to the agent of a session. */
export function whisperRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/sessions/{id}/whisper',
    operationId: 'whisperToAgent',
    summary: 'Tell a session’s agent something that its page does not see',
    description: `Sends a system message into the open call, to which the agent does not respond. The words are stored nowhere; the audit records who whispered. At most 10 a minute for each session. ${NAMED}`,
    right: 'change',
    body: whisperRequest,
    params: sessionParams,
    bodyExample: { text: 'The visitor is a customer of many years: offer the refund.' },
    reply: { description: 'The message was sent to the provider', schema: done, example: { ok: true } },
    refusals: ['ORIGIN_MISMATCH', 'SESSION_NOT_FOUND', 'AMBIGUOUS', 'CONFLICT', 'SESSION_DURATION_EXCEEDED'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const [calls, setup] = await Promise.all([
        services.calls.ofSession(record.id),
        services.core.stores.sessionSetups.find(record.id),
      ]);
      const { atMs } = call.request;
      const refused = await whisper({ record, atMs, setup, calls }, call.body.text, {
        operator: call.operator,
        by: actBy(call),
        services,
      });
      return refused ?? { ok: true };
    },
  });
}
