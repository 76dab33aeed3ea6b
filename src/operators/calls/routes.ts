import { type OperatorCall, type OperatorToolCall, operatorCallDetail } from '../../protocol/operator/call.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { callsOf, toolCallsOf, toOperatorCalls, toOperatorToolCall } from './view.ts';
import { exampleEvent, findNamed, NAMED, operatorRoute, sessionParams } from '../route.ts';
import { eventsOfActor } from '../journal/read.ts';
import { NO_TOKENS } from '../../protocol/price.ts';
import type { Services } from '../../http/services.ts';
import { string } from '../../protocol/values.ts';

export const exampleCall: OperatorCall = {
  ref: 'call_Zq3v0m8XcQf1rT6uYp2sLw',
  provider: 'openai',
  model: 'gpt-realtime-2.1',
  state: 'open',
  providerCallId: 'rtc_u1_9c6574da8b8a41a18da9308f4ad974ce',
  openedAt: '2030-01-01T12:00:00.412Z',
  closingAt: null,
  overAt: null,
  closedAt: null,
  closeReason: null,
  hangup: 'none',
  hangupTries: 0,
  basis: 'events',
  tokens: { ...NO_TOKENS, textIn: 310, audioIn: 742, audioCached: 128, textOut: 61, audioOut: 590 },
  microDollars: 64_187,
  estimatedMicroDollars: 0,
  gapSec: 0,
  ownerNode: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
};

export const exampleToolCall: OperatorToolCall = {
  name: 'lookup_order',
  state: 'answered',
  code: null,
  detail: null,
  endReason: null,
  askedAt: '2030-01-01T12:00:31.120Z',
  ms: 184,
  tries: 1,
};

const callParams = sessionParams.extend({
  call: string("The call's ref", exampleCall.ref),
});

/** One call of a session, and what its machine did. */
export function callRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/sessions/{id}/calls/{call}',
    operationId: 'getSessionCall',
    summary: 'Get one call of a session, and what the call’s machine did',
    description: `Its events, newest first: who requested it, when it was heard and not heard, why it ended, and each attempt to hang up. ${NAMED}`,
    params: callParams,
    reply: {
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
        tools: [exampleToolCall],
      },
    },
    refusals: ['SESSION_NOT_FOUND', 'NOT_FOUND', 'AMBIGUOUS'],
    find: (call) => findNamed(call, services),
    handle: async (call, _query, record) => {
      const { atMs } = call.request;
      const known = await callsOf(record.id, services);
      const found = toOperatorCalls(known, call.operator).find(({ ref }) => ref === call.params[1]);
      if (found === undefined) return new Refusal('NOT_FOUND', 'The session has no call of this ref.');
      const tools = await toolCallsOf({ id: found.ref, sessionId: record.id }, services);
      return {
        ...found,
        ...(await eventsOfActor('voice-call', found.ref, call.operator, services.core.stores.journal)),
        tools: tools.map((tool) => toOperatorToolCall(tool, atMs)),
      };
    },
  });
}
