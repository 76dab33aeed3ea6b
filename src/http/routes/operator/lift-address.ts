import type { LoginCodes } from '../../../auth/login-codes.ts';
import type { Subjects } from '../../../auth/subjects.ts';
import { liftAddressReply, liftAddressRequest } from '../../../protocol/operator/address.ts';
import { audited, type ActLog } from '../../../stores/journal/contract.ts';
import type { Events } from '../../../telemetry/events.ts';
import { defineRoute, type Route } from '../../route.ts';
import { sample } from '../../samples.ts';
import { entryOf } from './audit-entry.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface LiftAddressDeps {
  readonly codes: Pick<LoginCodes, 'lift'>;
  readonly subjects: Pick<Subjects, 'console'>;
  /** Who may log in. */
  readonly admits: (email: string) => boolean;
  readonly acts: ActLog;
  readonly events: Pick<Events, 'operatorActed'>;
}

/** Opens an address to new browsers again. */
export function liftAddressRoute({ codes, subjects, admits, acts, events }: LiftAddressDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/addresses/lift',
    operationId: 'liftAddress',
    summary: 'Let an address log in again from new browsers',
    description:
      'Forgets its wrong codes in a row, and lets it pass what its domain and the installation have used up, for a day. The audit keeps it by the hash of the address.',
    tag: TAG,
    access: 'operator',
    right: 'change-installation',
    body: liftAddressRequest,
    bodyExample: { email: sample.email, reason: 'she called, and has a new laptop' },
    replies: {
      200: {
        description: 'It may log in from new browsers',
        schema: liftAddressReply,
        example: { ok: true, failures: 100, mayLogIn: true },
      },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { email, reason } = call.body;
        const { atMs, requestId } = call.request;
        const target = subjects.console(email);
        events.operatorActed(call.operator.role, 'address.lift', target, requestId);
        const failures = await audited(
          acts,
          entryOf(call, 'address.lift', { target, tenantId: null, reason }),
          () => codes.lift(email, atMs),
          () => 'done',
        );
        return { status: 200, body: { ok: true, failures, mayLogIn: admits(email) } };
      }),
  });
}
