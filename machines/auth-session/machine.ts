import { assertEvent, assign, emit, setup } from 'xstate';
import { expiryFrom, isRenewalDue } from './selectors.ts';
import type { AuthEvent, AuthFact, AuthLimits, AuthRecord, DestroyReason } from './types.ts';

/** The end of a record. It ends once: later events find the machine in its final state. */
function endOf({ version }: AuthRecord, destroyedAtMs: number, destroyReason: DestroyReason): Partial<AuthRecord> {
  return { destroyedAtMs, destroyReason, version: version + 1 };
}

/**
 * The rules of a login (docs/contract.md, section 6). OPEN makes its record, which is the machine's context; activity extends it; its expiry, a
 * logout, a violation or a revocation destroys it, once. It reads no clock: each event carries its time.
 */
export function createAuthSessionMachine(limits: AuthLimits) {
  return setup({
    types: {
      context: {} as AuthRecord,
      events: {} as AuthEvent,
      emitted: {} as AuthFact,
    },
    guards: {
      hasExpired: ({ context, event }) => event.at >= context.expiresAtMs,
      isRenewalDue: ({ context, event }) => isRenewalDue(context, event.at, limits),
    },
    actions: {
      open: assign(({ event }) => {
        assertEvent(event, 'OPEN');
        const { id, email, at } = event;
        const times = { createdAtMs: at, renewedAtMs: at, expiresAtMs: expiryFrom(at, at, limits) };
        return { id, email, ...times, destroyedAtMs: null, destroyReason: null, version: 1 };
      }),
      renew: assign(({ context, event }) => ({
        renewedAtMs: event.at,
        expiresAtMs: expiryFrom(context.createdAtMs, event.at, limits),
        version: context.version + 1,
      })),
      expire: assign(({ context }) => endOf(context, context.expiresAtMs, 'expired')),
      destroy: assign(({ context, event }) => {
        assertEvent(event, 'DESTROY');
        return endOf(context, event.at, event.reason);
      }),
      tellRenewed: emit({ type: 'login.renewed' }),
      tellDestroyed: emit(({ context }) => ({ type: 'login.destroyed', reason: context.destroyReason ?? 'expired' })),
    },
  }).createMachine({
    id: 'auth-session',
    // There is no record until OPEN makes it.
    context: {} as AuthRecord,
    initial: 'unopened',
    states: {
      unopened: { on: { OPEN: { target: 'active', actions: 'open' } } },
      active: {
        on: {
          ACTIVITY: [
            { guard: 'hasExpired', target: 'destroyed', actions: 'expire' },
            { guard: 'isRenewalDue', actions: ['renew', 'tellRenewed'] },
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
