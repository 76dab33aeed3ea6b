import { z } from 'zod';
import { operatorCallDetail } from '../../../protocol/operator/call.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import type { Journal } from '../../../stores/journal/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { callsOf, describeCalls, exampleCall, type OperatorCallsDeps } from './calls.ts';
import { exampleEvent, toldOf } from './events.ts';
import { alwaysRefused, NAMED, ofNamed, sessionParams, TAG, type NamedDeps } from './named.ts';

export interface OperatorCallDeps extends NamedDeps, OperatorCallsDeps {
  readonly journal: Pick<Journal, 'list'>;
}

const callParams = sessionParams.extend({
  call: z.string().meta({ description: "The call's ref", examples: [exampleCall.ref] }),
});

/** One call of a session, and what its machine did. */
export function callRoute(deps: OperatorCallDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}/calls/{call}',
    operationId: 'getSessionCall',
    summary: "One call of a session at the provider, and what the call's machine did",
    description: `Newest first: who asked for it, when it was heard and not heard, why it ended, each try to hang up. ${NAMED}`,
    params: callParams,
    tag: TAG,
    access: 'operator',
    replies: {
      200: {
        description: 'The call',
        schema: operatorCallDetail,
        example: {
          ...exampleCall,
          machine: 'voice-call',
          events: [
            {
              ...exampleEvent,
              kind: 'moved',
              event: 'READY',
              from: 'creating',
              to: 'open',
              steps: [{ event: 'READY', from: 'creating', to: 'open', guard: null, actions: [] }],
              guards: [],
              detail: { session: 's:9c6574da8b8a41a18da9308f4ad974ce:Zq3v0m8X', reason: null, hangup: 'none' },
            },
          ],
          moreEvents: false,
        },
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'NOT_FOUND', 'AMBIGUOUS', ...alwaysRefused],
    handle: (call) =>
      ofNamed(call, deps, async (record) => {
        const known = await callsOf(record.id, deps);
        const found = describeCalls(known, call.operator).find(({ ref }) => ref === call.params[1]);
        if (found === undefined) return new Refusal('NOT_FOUND', 'The session has no call of this ref.');
        return {
          status: 200,
          body: { ...found, ...(await toldOf('voice-call', found.ref, call.operator, deps.journal)) },
        };
      }),
  });
}
