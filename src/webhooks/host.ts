import { webhookEndpointMachine } from '../../machines/webhook-endpoint/machine.ts';
import { savedState } from '../../machines/webhook-endpoint/selectors.ts';
import type { EndpointEvent, EndpointFact, EndpointRecord } from '../../machines/webhook-endpoint/types.ts';
import { createHost, type Host } from '../actors/host.ts';
import type { Webhooks } from '../stores/webhooks/contract.ts';

/** The actors of webhook endpoints. */
export type EndpointHost = Host<EndpointRecord, EndpointEvent, EndpointFact>;

export function createEndpointHost(store: Webhooks): EndpointHost {
  return createHost<EndpointRecord, EndpointEvent, EndpointFact>({
    machine: webhookEndpointMachine,
    store,
    stateOf: savedState,
  });
}
