import { assign, emit, setup } from 'xstate';
import { expiryFrom, isRenewalDue } from './selectors.ts';
import type { AuthEvent, AuthFact, AuthLimits, AuthRecord } from './types.ts';

function destroyed(record: AuthRecord, at: number, reason: AuthRecord['destroyReason']): AuthRecord {
  return { ...record, destroyedAtMs: at, destroyReason: reason, version: record.version + 1 };
}

/** The law of a login (specification section 3): activity extends it, expiry, logout, a violation or a revocation destroys it. */
export function createAuthSessionMachine(limits: AuthLimits) {
  return setup({
    types: {
      context: {} as AuthRecord,
      events: {} as AuthEvent,
      emitted: {} as AuthFact,
      input: {} as AuthRecord,
    },
    guards: {
      hasExpired: ({ context, event }) => event.at >= context.expiresAtMs,
      renewalIsDue: ({ context, event }) => isRenewalDue(context, event.at, limits),
    },
    actions: {
      renew: assign(({ context, event }) => ({
        ...context,
        renewedAtMs: event.at,
        expiresAtMs: expiryFrom(context.createdAtMs, event.at, limits),
        version: context.version + 1,
      })),
      expire: assign(({ context }) => destroyed(context, context.expiresAtMs, 'expired')),
      destroy: assign(({ context, event }) =>
        event.type === 'DESTROY' ? destroyed(context, event.at, event.reason) : context,
      ),
      tellRenewed: emit({ type: 'login.renewed' }),
      tellDestroyed: emit(({ context }) => ({ type: 'login.destroyed', reason: context.destroyReason ?? 'expired' })),
    },
  }).createMachine({
    id: 'auth-session',
    context: ({ input }) => input,
    initial: 'active',
    states: {
      active: {
        on: {
          ACTIVITY: [
            { guard: 'hasExpired', target: 'destroyed', actions: 'expire' },
            { guard: 'renewalIsDue', actions: ['renew', 'tellRenewed'] },
          ],
          DESTROY: [
            { guard: 'hasExpired', target: 'destroyed', actions: 'expire' },
            { target: 'destroyed', actions: 'destroy' },
          ],
          CLOCK: { guard: 'hasExpired', target: 'destroyed', actions: 'expire' },
        },
      },
      destroyed: { type: 'final', entry: 'tellDestroyed' },
    },
  });
}
