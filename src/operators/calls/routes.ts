import {
  callFilters,
  listedCallDetail,
  type ListedOperatorCall,
  type OperatorCall,
  operatorCallDetail,
  operatorCallPage,
  type OperatorToolCall,
} from '../../protocol/operator/call.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import {
  callsOf,
  captionsOf,
  toListedCalls,
  toolCallsOf,
  toOperatorCalls,
  toOperatorToolCall,
  whyOfCall,
} from './view.ts';
import { exampleEvent, findNamed, NAMED, operatorRoute, sessionParams } from '../operator-route.ts';
import { NO_TOKENS } from '../../protocol/price.ts';
import type { Services } from '../../http/services.ts';
import { string } from '../../protocol/fields.ts';
import { z } from 'zod';
import { refOf } from '../../kernel/ids.ts';
import { sample } from '../../http/samples.ts';
import { seesTenant, tenantsOf } from '../roles.ts';
import { pageEnd, readCursor } from '../pagination.ts';
import { eventsOfActor } from '../journal/view.ts';

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

const exampleToolCall: OperatorToolCall = {
  name: 'lookup_order',
  state: 'answered',
  code: null,
  detail: null,
  endReason: null,
  askedAt: '2030-01-01T12:00:31.120Z',
  ms: 184,
  tries: 1,
};

const exampleListed: ListedOperatorCall = {
  ...exampleCall,
  session: refOf(sample.sm_session_id),
  tenantId: 'acme',
  keyId: 'site',
  agentId: 'support',
  createdAt: '2030-01-01T12:00:00.001Z',
};

export function callsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/calls',
    operationId: 'listCalls',
    summary: 'List the calls that Switchboard opened at the provider, newest first',
    description:
      'One page at a time: pass nextCursor of one page as cursor for the next, until it is null. The cost of each call is as of now, also while the call is in progress.',
    query: callFilters,
    reply: {
      description: 'A page of calls',
      schema: operatorCallPage,
      example: { calls: [exampleListed], nextCursor: null, asOf: '2030-01-01T12:01:30.000Z', searchedTo: null },
    },
    handle: async ({ operator, request }, { state, hangup, tenantId, keyId, agentId, cursor, limit }) => {
      const after = readCursor(cursor, [0, ''] as const);
      if (after instanceof Refusal) return after;
      const page = await services.core.stores.calls.list(
        { states: state, hangups: hangup, tenantId, tenants: tenantsOf(operator), keyId, agentId },
        after && { atMs: after[0], id: after[1] },
        limit,
      );
      const calls = await toListedCalls(page.rows, operator, services);
      return { calls, ...pageEnd(page, request.atMs, ({ atMs, id }) => [atMs, id]) };
    },
  });
}

const callNamed = z.object({ ref: string("The call's ref", exampleCall.ref) });

export function namedCallRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/calls/{ref}',
    operationId: 'getCall',
    summary: 'Get one call, an explanation of its state, and what the call’s machine did',
    description: 'The call as in the list, with a sentence that explains its state, and its newest events.',
    params: callNamed,
    reply: {
      description: 'The call',
      schema: listedCallDetail,
      example: {
        ...exampleListed,
        machine: 'voice-call',
        events: [],
        moreEvents: false,
        tools: [exampleToolCall],
        openResponses: 1,
        captions: true,
        why: { sentence: 'Still open, for 90 s since 2030-01-01 12:00:00 UTC.' },
      },
    },
    refusals: ['NOT_FOUND'],
    handle: async ({ operator, request, params }) => {
      const { core, sessions, calls } = services;
      const record = await core.stores.calls.load(params[0] ?? '');
      if (record === undefined || !seesTenant(operator, record.tenantId))
        return new Refusal('NOT_FOUND', 'There is no call of this ref.');
      const session = await sessions.find(record.sessionId);
      const [[call], told, tools, setup, responses] = await Promise.all([
        toListedCalls([{ record, agentId: session?.agentId ?? null }], operator, services),
        eventsOfActor('voice-call', record.id, operator, core.stores.journal),
        toolCallsOf(record, services),
        core.stores.sessionSetups.find(record.sessionId),
        record.state === 'closed' ? 0 : calls.runningResponses(record),
      ]);
      const captions = captionsOf(record, setup, core.provider);
      const why = { sentence: whyOfCall(record, tools, core.config.calls, request.atMs) };
      return {
        ...call,
        ...told,
        openResponses: responses ?? null,
        captions,
        tools: tools.map((tool) => toOperatorToolCall(tool, request.atMs)),
        why,
      };
    },
  });
}

const callParams = sessionParams.extend({
  call: string("The call's ref", exampleCall.ref),
});

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
