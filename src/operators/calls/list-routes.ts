import { z } from 'zod';
import {
  callFilters,
  listedCallDetail,
  type ListedOperatorCall,
  operatorCallPage,
} from '../../protocol/operator/call.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { refOf } from '../../kernel/ids.ts';
import type { Route } from '../../http/route.ts';
import { sample } from '../../http/samples.ts';
import type { Services } from '../../http/services.ts';
import { eventsOfActor } from '../journal/read.ts';
import { seesTenant, tenantsOf } from '../roles.ts';
import { operatorRoute, pageEnd, readCursor } from '../route.ts';
import { exampleCall, exampleToolCall } from './routes.ts';
import { captionsOf, toListedCalls, toolCallsOf, toOperatorToolCall } from './view.ts';
import { whyOfCall } from './why.ts';

const exampleListed: ListedOperatorCall = {
  ...exampleCall,
  session: refOf(sample.sm_session_id),
  tenantId: 'acme',
  keyId: 'site',
  agentId: 'support',
  createdAt: '2030-01-01T12:00:00.001Z',
};

/** Calls at providers, by filters. */
export function callsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/calls',
    operationId: 'listCalls',
    summary: 'List the calls that Switchboard opened at the provider, newest first',
    description:
      'One page at a time: pass nextCursor of one page as cursor for the next, until it is null. The cost of each call is as of now, also while the call is in progress.',
    query: callFilters,
    replies: {
      200: {
        description: 'A page of calls',
        schema: operatorCallPage,
        example: { calls: [exampleListed], nextCursor: null, asOf: '2030-01-01T12:01:30.000Z', searchedTo: null },
      },
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
      return { status: 200, body: { calls, ...pageEnd(page, request.atMs, ({ atMs, id }) => [atMs, id]) } };
    },
  });
}

const callNamed = z.object({ ref: z.string().meta({ description: "The call's ref", examples: [exampleCall.ref] }) });

/** One call by its own ref. */
export function namedCallRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/calls/{ref}',
    operationId: 'getCall',
    summary: 'Get one call, an explanation of its state, and what the call’s machine did',
    description: 'The call as in the list, with a sentence that explains its state, and its newest events.',
    params: callNamed,
    replies: {
      200: {
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
        status: 200,
        body: {
          ...call,
          ...told,
          openResponses: responses ?? null,
          captions,
          tools: tools.map((tool) => toOperatorToolCall(tool, request.atMs)),
          why,
        },
      };
    },
  });
}
