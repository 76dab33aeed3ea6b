import { webhookEndpointMachine } from '../../machines/webhook-endpoint/machine.ts';
import { savedState } from '../../machines/webhook-endpoint/selectors.ts';
import type { EndpointEvent, EndpointFact, EndpointRecord } from '../../machines/webhook-endpoint/types.ts';
import { createHost, type Host } from '../actors/host.ts';
import type { GivenFact, MailedType, Webhooks } from '../stores/webhooks/contract.ts';

/** The actors of webhook endpoints. */
export type EndpointHost = Host<EndpointRecord, EndpointEvent, EndpointFact>;

/** @param adminsOf e-mail addresses that are told what happens to a tenant; null is the installation */
export function createEndpointHost(
  store: Webhooks,
  adminsOf: (tenantId: string | null) => readonly string[],
): EndpointHost {
  async function alertsOf(
    { id }: EndpointRecord,
    facts: readonly EndpointFact[],
    atMs: number,
  ): Promise<readonly GivenFact[]> {
    const fact = facts.find(needsPeople);
    if (fact === undefined) return [];
    const endpoint = await store.find(id);
    if (endpoint === undefined) return [];
    const { tenantId, url } = endpoint;
    const reason = fact.type === 'webhook.disabled' ? fact.reason : null;
    // Only the host: the rest of the URL may prove who may post there.
    const data = { tenantId, webhookId: id, host: new URL(url).host, reason };
    return [{ type: fact.type, tenantId, atMs, data, mailTo: adminsOf(tenantId) }];
  }

  return createHost<EndpointRecord, EndpointEvent, EndpointFact>({
    machine: webhookEndpointMachine,
    store,
    stateOf: savedState,
    save: (record, expectedVersion, { at }, facts) =>
      facts.length === 0
        ? undefined
        : alertsOf(record, facts, at).then((alerts) => store.save(record, expectedVersion, alerts)),
  });
}

/** People are told what happens to an endpoint, but not of what an operator did to it. */
function needsPeople(fact: EndpointFact): fact is EndpointFact & { readonly type: MailedType } {
  return fact.type === 'webhook.failing' || (fact.type === 'webhook.disabled' && fact.reason !== 'operator');
}
