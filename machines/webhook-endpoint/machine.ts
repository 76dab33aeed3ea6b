import { assertEvent, assign, emit, setup } from 'xstate';
import { FAILURES, isProbeDue, newEndpoint, nextDeadline, probeDelayMs } from './selectors.ts';
import type { DisabledFor, EndpointEvent, EndpointFact, EndpointRecord } from './types.ts';

function disabled({ version }: EndpointRecord, disabledFor: DisabledFor): Partial<EndpointRecord> {
  return {
    state: 'disabled',
    disabledFor,
    failures: 0,
    failingSinceMs: null,
    probeAtMs: null,
    probes: 0,
    healthySinceMs: null,
    version: version + 1,
  };
}

/** @param probeAtMs time of the first probe */
function failing({ version }: EndpointRecord, at: number, probeAtMs: number): Partial<EndpointRecord> {
  return {
    state: 'failing',
    disabledFor: null,
    failures: 0,
    failingSinceMs: at,
    probeAtMs,
    probes: 0,
    healthySinceMs: null,
    version: version + 1,
  };
}

/**
 * The rules of one webhook endpoint. ADD makes its record, which is the machine's context. An endpoint that does not answer is probed with a single
 * delivery now and then, so that it costs no request per event and holds up no other endpoint; if it does not come back, it is given up. It reads no
 * clock: each event carries its time.
 */
export const webhookEndpointMachine = setup({
  types: {
    context: {} as EndpointRecord,
    events: {} as EndpointEvent,
    emitted: {} as EndpointFact,
  },
  guards: {
    hasFailures: ({ context }) => context.failures > 0,
    isLastFailure: ({ context }) => context.failures + 1 >= FAILURES,
    isProbeDue: ({ context, event }) => isProbeDue(context, event.at),
    isGivenUp: ({ context, event }) => event.at >= nextDeadline(context),
  },
  actions: {
    add: assign(({ event }) => {
      assertEvent(event, 'ADD');
      return newEndpoint(event.id);
    }),
    count: assign(({ context: { failures, version } }) => ({ failures: failures + 1, version: version + 1 })),
    forget: assign(({ context: { version } }) => ({ failures: 0, version: version + 1 })),
    fail: assign(({ context, event }) => failing(context, event.at, event.at + probeDelayMs(0))),
    begin: assign(({ context, event }) => failing(context, event.at, event.at)),
    probe: assign(({ context: { version }, event }) => {
      assertEvent(event, 'PROBE');
      return { probeAtMs: event.untilMs, version: version + 1 };
    }),
    wait: assign(({ context: { probes, version }, event }) => ({
      probes: probes + 1,
      probeAtMs: event.at + probeDelayMs(probes + 1),
      version: version + 1,
    })),
    hurry: assign(({ context: { version }, event }) => ({ probeAtMs: event.at, version: version + 1 })),
    recover: assign(({ context: { version }, event }) => ({
      state: 'healthy',
      failures: 0,
      failingSinceMs: null,
      probeAtMs: null,
      probes: 0,
      healthySinceMs: event.at,
      version: version + 1,
    })),
    giveUp: assign(({ context }) => disabled(context, 'failing')),
    leave: assign(({ context }) => disabled(context, 'gone')),
    disable: assign(({ context }) => disabled(context, 'operator')),
    tellFailing: emit({ type: 'webhook.failing' }),
    tellHealthy: emit({ type: 'webhook.healthy' }),
    tellProbing: emit({ type: 'webhook.probing' }),
    tellDisabled: emit(({ context }) => ({ type: 'webhook.disabled', reason: context.disabledFor ?? 'operator' })),
  },
}).createMachine({
  id: 'webhook-endpoint',
  // There is no record until ADD makes it.
  context: {} as EndpointRecord,
  initial: 'unknown',
  states: {
    unknown: { on: { ADD: { target: 'healthy', actions: 'add' } } },
    healthy: {
      on: {
        DELIVERED: { guard: 'hasFailures', actions: 'forget' },
        FAILED: [{ guard: 'isLastFailure', target: 'failing', actions: ['fail', 'tellFailing'] }, { actions: 'count' }],
        GONE: { target: 'disabled', actions: ['leave', 'tellDisabled'] },
        DISABLE: { target: 'disabled', actions: ['disable', 'tellDisabled'] },
      },
    },
    failing: {
      on: {
        DELIVERED: { target: 'healthy', actions: ['recover', 'tellHealthy'] },
        FAILED: [{ guard: 'isGivenUp', target: 'disabled', actions: ['giveUp', 'tellDisabled'] }, { actions: 'wait' }],
        PROBE: [
          { guard: 'isGivenUp', target: 'disabled', actions: ['giveUp', 'tellDisabled'] },
          { guard: 'isProbeDue', actions: ['probe', 'tellProbing'] },
        ],
        ENABLE: { actions: 'hurry' },
        GONE: { target: 'disabled', actions: ['leave', 'tellDisabled'] },
        DISABLE: { target: 'disabled', actions: ['disable', 'tellDisabled'] },
        CLOCK: { guard: 'isGivenUp', target: 'disabled', actions: ['giveUp', 'tellDisabled'] },
      },
    },
    disabled: { on: { ENABLE: { target: 'failing', actions: 'begin' } } },
  },
});
