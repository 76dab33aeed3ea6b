import { z } from 'zod';
import { type Chart, type OperatorMachine, operatorMachines } from '../../protocol/operator/machine.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { sendDocument } from '../../http/documents.ts';
import { operatorAnswerRoute } from '../operator-route.ts';
import { isLoopback } from '../../kernel/addresses.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { isLocal } from '../../http/client-address.ts';
import { refuseUpgrade } from '../../http/routes/socket.ts';
import { INSPECT_PATH } from './inspector.ts';
import type { Services } from '../../http/services.ts';
import { string } from '../../protocol/fields.ts';

const exampleChart: Chart = {
  width: 360,
  height: 87,
  nodes: [
    { id: 'unopened', name: 'unopened', kind: 'start', x: 8, y: 29, width: 14, height: 14, loops: [] },
    {
      id: 'active',
      name: 'active',
      kind: 'state',
      x: 38,
      y: 14,
      width: 96,
      height: 44,
      loops: [{ event: 'ACTIVITY', guard: 'isRenewalDue', from: 'active', to: 'active' }],
    },
    { id: 'destroyed', name: 'destroyed', kind: 'final', x: 244, y: 14, width: 108, height: 44, loops: [] },
  ],
  edges: [
    {
      from: 'active',
      to: 'destroyed',
      points: [
        { x: 134, y: 36 },
        { x: 244, y: 36 },
      ],
      label: { x: 146, y: 39, width: 84, height: 44 },
      lines: ['hasExpired', 'DESTROY'],
      transitions: [
        { event: 'CLOCK', guard: 'hasExpired', from: 'active', to: 'destroyed' },
        { event: 'DESTROY', guard: null, from: 'active', to: 'destroyed' },
      ],
    },
  ],
};

const exampleMachine: OperatorMachine = {
  id: 'auth-session',
  version: '4f1c09a7be52',
  definition: {
    id: 'auth-session',
    initial: 'active',
    states: {
      active: { on: { CLOCK: { guard: 'hasExpired', target: 'destroyed', actions: 'expire' } } },
      destroyed: { type: 'final' },
    },
  },
  charts: { right: exampleChart, down: exampleChart },
  words: { CLOCK: 'clock', DESTROY: 'asked to end', hasExpired: '24 h unused', isRenewalDue: '1 min passed' },
};

export function machinesRoute({ operators: { machines } }: Services): Route {
  const send = sendDocument(machines);
  return operatorAnswerRoute({
    method: 'GET',
    path: '/api/operator/machines',
    operationId: 'listMachines',
    summary: 'Get the state machines, as definitions and as charts',
    description: 'The reply changes only when the service is rebuilt or reconfigured: send `If-None-Match`.',
    headers: z.object({
      'if-none-match': string('The `ETag` of an earlier reply', '"4f1c0e8b7d2a"').optional(),
    }),
    replies: {
      200: {
        description: 'All machines; the `ETag` changes when they do',
        schema: operatorMachines,
        example: { machines: [exampleMachine] },
      },
      304: { description: 'Unchanged since the `ETag` in `If-None-Match`' },
    },
    handle: async (call) => {
      const { headers = [], ...answer } = await send(call);
      // Replies to operators already forbid caching.
      return { ...answer, headers: headers.filter(([name]) => name !== 'Cache-Control') };
    },
  });
}

/** GET /api/operator/inspect: a WebSocket for the tools of the XState ecosystem, from this computer only (INSPECT=1, never in production). */
export function inspectRoute({ core: { publicUrl } }: Services): Route {
  return defineRoute({
    kind: 'socket',
    method: 'GET',
    path: INSPECT_PATH,
    summary: 'Inspect the machines',
    tag: 'hidden',
    access: 'proof',
    replies: { 101: { description: 'Switching to WebSocket' } },
    refusals: ['FORBIDDEN'],
    handle(call) {
      const refusal = refuseUpgrade(call.request, '');
      if (refusal !== undefined) return refusal;
      const isNear = isLoopback(publicUrl()) && isLocal(call) && (call.origin === undefined || isLoopback(call.origin));
      if (!isNear) return new Refusal('FORBIDDEN', 'Inspectors attach on the machine itself, at ws://localhost.');
      return { status: 101, body: '' };
    },
  });
}
