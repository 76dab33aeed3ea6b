import { iso } from '../../kernel/time.ts';
import {
  operatorStops,
  resumeReply,
  stopReply,
  stopRequest,
  type OperatorStop,
  type OperatorStops,
} from '../../protocol/operator/stop.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Stop } from '../../stores/tenants/contract.ts';
import { resumeService, stillOpen, stopService } from '../../tenants/emergency-stops.ts';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { actorSeenBy, seesTenant, tenantsOf, within, type Operator } from '../roles.ts';
import { actBy, operatorRoute, scopeOf } from '../operator-route.ts';
import { ofTenant } from '../../protocol/fields.ts';

const NAME_A_TENANT = 'Name a tenantId: you may stop your own tenants, and not the whole installation.';

const exampleStop: OperatorStop = {
  tenantId: null,
  stoppedAt: '2030-01-01T02:10:00.000Z',
  actor: 'ops@example.com',
  reason: 'a key leaked',
};

const exampleOpen: OperatorStops['open'] = { sessions: 12, calls: { open: 3, closing: 9 } };

export function stopsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/stop',
    operationId: 'listStops',
    summary: 'Get what is stopped, by whom, and what is still open',
    description:
      'With tenantId `open` counts that tenant only. A session with direct calls counts as over once it has ended here: its provider cannot be asked to end the call.',
    query: ofTenant,
    reply: {
      description: 'The stops, that of the installation first',
      schema: operatorStops,
      example: { stops: [exampleStop], open: exampleOpen },
    },
    async handle({ operator }, { tenantId }) {
      const shown = within(operator, tenantId);
      const [stops, open] = await Promise.all([
        services.core.stores.tenants.stops(),
        stillOpen(tenantsOf(shown), services.core.stores),
      ]);
      const seen = stops.filter((stop) => stop.tenantId === null || seesTenant(shown, stop.tenantId));
      return { stops: seen.map((stop) => toOperatorStop(stop, operator)), open };
    },
  });
}

export function stopRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/stop',
    operationId: 'stopService',
    summary: 'Stop a tenant, or everything',
    description:
      'Creates are refused with SERVICE_STOPPED on every node within a second, and every session is ended and its call hung up, also by nodes that start later. Repeat the request, or GET the same address, until nothing is open. Repeating it changes nothing and keeps the first stop, except that a stop by an admin of the tenant is replaced by anybody else’s.',
    right: 'change',
    body: stopRequest,
    bodyExample: { tenantId: 'acme', reason: 'a key leaked' },
    reply: {
      description: 'The stop is in force; what is open now is being ended',
      schema: stopReply,
      example: { ok: true, stop: exampleStop, open: exampleOpen },
    },
    refusals: ['NOT_FOUND'],
    find: (call) => scopeOf(call.operator, call.body.tenantId, NAME_A_TENANT),
    handle: async (call, _query, scope) => {
      const stop = await stopService(scope, actBy(call), services.operators.keys);
      if (stop instanceof Refusal) return stop;
      await services.tenants.catchUp();
      const open = await stillOpen(tenantsOf(within(call.operator, scope ?? undefined)), services.core.stores);
      return { ok: true, stop: toOperatorStop(stop, call.operator), open };
    },
  });
}

export function resumeRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/resume',
    operationId: 'resumeService',
    summary: 'Open sessions again after a stop',
    description:
      'Lifts the stop of a tenant, or without tenantId that of the installation, which leaves stops of tenants in force. Repeating it changes nothing. Admins of tenants cannot lift a stop by an operator of the installation.',
    right: 'change',
    body: stopRequest,
    bodyExample: { tenantId: 'acme', reason: 'the key was replaced' },
    reply: { description: 'The stop is lifted', schema: resumeReply, example: { ok: true, alreadyRunning: false } },
    refusals: ['NOT_FOUND'],
    find: (call) => scopeOf(call.operator, call.body.tenantId, NAME_A_TENANT),
    handle: async (call, _query, scope) => {
      const isLifted = await resumeService(scope, actBy(call), services.operators.keys);
      if (isLifted instanceof Refusal) return isLifted;
      await services.tenants.catchUp();
      return { ok: true, alreadyRunning: !isLifted };
    },
  });
}

function toOperatorStop({ tenantId, atMs, actor, reason }: Stop, operator: Operator): OperatorStop {
  return { tenantId, stoppedAt: iso(atMs), actor: actorSeenBy(operator, actor), reason };
}
