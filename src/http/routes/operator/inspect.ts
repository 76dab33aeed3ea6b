import { isLoopback } from '../../../../config/origins.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { isLocal } from '../../local.ts';
import { defineRoute, type Route } from '../../route.ts';
import { refuseUpgrade } from '../../upgrade.ts';

export const INSPECT_PATH = '/api/operator/inspect';

export interface InspectDeps {
  readonly publicUrl: () => string;
}

/** GET /api/operator/inspect: a WebSocket for the tools of the XState ecosystem, on the machine itself (INSPECT=1, never in production). */
export function inspectRoute({ publicUrl }: InspectDeps): Route {
  return defineRoute({
    kind: 'socket',
    method: 'GET',
    path: INSPECT_PATH,
    summary: 'Inspect the machines',
    tag: 'hidden',
    access: 'proof',
    replies: { 101: { description: 'Switching to WebSocket' } },
    refusals: ['INVALID_REQUEST', 'FORBIDDEN'],
    handle(call) {
      const refusal = refuseUpgrade(call.request, '');
      if (refusal !== undefined) return refusal;
      const isNear = isLoopback(publicUrl()) && isLocal(call) && (call.origin === undefined || isLoopback(call.origin));
      if (!isNear) return new Refusal('FORBIDDEN', 'Inspectors attach on the machine itself, at ws://localhost.');
      return { status: 101, body: '' };
    },
  });
}
