import { newEndpoint } from '../../machines/webhook-endpoint/selectors.ts';
import type { Clock } from '../kernel/time.ts';
import { randomId } from '../kernel/ids.ts';
import { findUrlFault, type UrlRule } from '../kernel/addresses.ts';
import { OutboundFailure, type Outbound } from '../outbound/contract.ts';
import { Refusal, wrongFields } from '../protocol/refusal.ts';
import { TEST_TYPE, MAX_ENDPOINTS, wantedTypes, webhookUrl } from '../protocol/webhook.ts';
import type { SecretsDeps } from '../tenant-secrets/secrets.ts';
import { deleteWebhookSecrets, makeWebhookSecret } from '../tenant-secrets/webhook-secrets.ts';
import type { ActAction } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy } from '../stores/journal/contract.ts';
import type { EndpointWish, ReplayFilter, WebhookEndpoint, Webhooks } from '../stores/webhooks/contract.ts';
import type { EndpointHost } from './endpoint-host.ts';

/** Events that one request sends again at most. */
const MAX_REPLAYED = 10_000;
/** If the number of matches has grown by more than this share since the count, the operator must count again. */
const GROWTH = 0.1;

export interface EndpointsDeps {
  readonly webhooks: Webhooks;
  readonly host: EndpointHost;
  readonly secrets: SecretsDeps;
  readonly outbound: Pick<Outbound, 'check'>;
  readonly urlRule: UrlRule;
  readonly acts: ActLog;
  readonly clock: Clock;
}

interface NewWebhook {
  /** Null for an endpoint of the installation. */
  readonly tenantId: string | null;
  readonly url: string;
  readonly types: readonly string[];
}

/** A new endpoint and its secret, which is shown only once. */
interface MadeWebhook {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

/**
 * Adds an endpoint.
 * @returns a Refusal INVALID_REQUEST whose details name every wrong field, or CONFLICT where the maximum is reached or no key can seal its secret
 * @throws Unavailable
 */
export async function addWebhook(
  { tenantId, url, types }: NewWebhook,
  by: ChangedBy,
  deps: EndpointsDeps,
): Promise<MadeWebhook | Refusal> {
  const wrong = await findFaults({ url, types }, deps);
  if (wrong !== undefined) return wrong;
  const id = `wh_${randomId()}`;
  const atMs = deps.clock.now();
  const endpoint = { ...newEndpoint(id), tenantId, url, types: unique(types), createdAtMs: atMs, createdBy: by.actor };
  return change('webhook.create', endpoint, by, deps, async () => {
    // The secret comes first: an endpoint without one would be signed with a secret that nobody was shown.
    const secret = await makeWebhookSecret(endpoint, by, deps.secrets);
    if (secret instanceof Refusal) return secret;
    if (await deps.webhooks.insert(endpoint, MAX_ENDPOINTS)) return { endpoint, secret };
    await deleteWebhookSecrets(endpoint, deps.secrets);
    return tooMany(tenantId);
  });
}

/**
 * Changes the address of an endpoint, or which events it gets from now on.
 * @returns the endpoint; a Refusal INVALID_REQUEST as for `addWebhook`, or NOT_FOUND where it is gone
 * @throws Unavailable
 */
export async function changeWebhook(
  endpoint: WebhookEndpoint,
  { url, types }: EndpointWish,
  by: ChangedBy,
  deps: EndpointsDeps,
): Promise<WebhookEndpoint | Refusal> {
  const wrong = await findFaults({ url, types }, deps);
  if (wrong !== undefined) return wrong;
  const wish = { ...(url !== undefined && { url }), ...(types !== undefined && { types: unique(types) }) };
  return change(
    'webhook.change',
    endpoint,
    by,
    deps,
    async () => (await deps.webhooks.change(endpoint.id, wish)) ?? gone(),
  );
}

/**
 * Deletes an endpoint, its secrets, and its waiting deliveries.
 * @returns a Refusal NOT_FOUND where it is gone, or CONFLICT where the tenants file names it
 * @throws Unavailable
 */
export function deleteWebhook(endpoint: WebhookEndpoint, by: ChangedBy, deps: EndpointsDeps): Promise<true | Refusal> {
  return change('webhook.delete', endpoint, by, deps, async () => {
    const isDeleted = await deps.webhooks.delete(endpoint.id);
    // The next merge would add it again, without its secret and perhaps beside others that the tenant has added in its place.
    if (!isDeleted && (await deps.webhooks.find(endpoint.id)) !== undefined)
      return new Refusal('CONFLICT', 'TENANTS_FILE names this webhook: take it out there first, or disable it.');
    await deleteWebhookSecrets(endpoint, deps.secrets);
    return isDeleted ? true : gone();
  });
}

/**
 * Creates a new secret; the former one keeps signing as well for a day.
 * @returns `whsec_…`, shown only once; a Refusal CONFLICT where no key can seal it
 * @throws Unavailable
 */
export function rotateWebhook(
  endpoint: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  by: ChangedBy,
  deps: Pick<EndpointsDeps, 'secrets' | 'acts' | 'clock'>,
): Promise<string | Refusal> {
  return change('webhook.rotate', endpoint, by, deps, () => makeWebhookSecret(endpoint, by, deps.secrets));
}

/** Sends the endpoint a test event. @returns the event's id; a Refusal NOT_FOUND where it is gone @throws Unavailable */
export function tryWebhook(endpoint: WebhookEndpoint, by: ChangedBy, deps: EndpointsDeps): Promise<string | Refusal> {
  return change('webhook.test', endpoint, by, deps, async () => {
    const data = { webhookId: endpoint.id, tenantId: endpoint.tenantId };
    return (await deps.webhooks.tell(endpoint.id, TEST_TYPE, data, deps.clock.now())) ?? gone();
  });
}

/** Stops sending until the endpoint is enabled; events wait meanwhile. @throws Unavailable */
export function disableWebhook(endpoint: WebhookEndpoint, by: ChangedBy, deps: EndpointsDeps) {
  return turn('webhook.disable', 'DISABLE', endpoint, by, deps);
}

/** Resumes sending: one delivery at first, and everything that waits once that one succeeds. @throws Unavailable */
export function enableWebhook(endpoint: WebhookEndpoint, by: ChangedBy, deps: EndpointsDeps) {
  return turn('webhook.enable', 'ENABLE', endpoint, by, deps);
}

/** Sends one event again, with the same id. @returns a Refusal NOT_FOUND where there is none @throws Unavailable */
export function replayOne(
  endpoint: WebhookEndpoint,
  eventId: string,
  by: ChangedBy,
  deps: EndpointsDeps,
): Promise<true | Refusal> {
  return change('webhook.replay', endpoint, by, deps, async () =>
    (await deps.webhooks.replay(endpoint.id, eventId, deps.clock.now())) ? true : noDelivery(),
  );
}

/** How many events `replayMany` would send again. @throws Unavailable */
export function countReplay(
  endpoint: WebhookEndpoint,
  span: Omit<ReplayFilter, 'endpointId'>,
  { webhooks }: Pick<EndpointsDeps, 'webhooks'>,
): Promise<number> {
  return webhooks.countReplay({ ...span, endpointId: endpoint.id });
}

/**
 * Sends the events of a time span again; those that are already waiting are left alone.
 * @param expected how many were counted before
 * @returns how many; a Refusal COUNT_CHANGED where over a tenth more match than were counted, QUERY_TOO_BROAD for more than 10,000
 * @throws Unavailable
 */
export async function replayMany(
  endpoint: WebhookEndpoint,
  span: Omit<ReplayFilter, 'endpointId'>,
  expected: number,
  by: ChangedBy,
  deps: EndpointsDeps,
): Promise<number | Refusal> {
  const matched = await countReplay(endpoint, span, deps);
  if (matched > expected * (1 + GROWTH)) {
    const error = `${matched} events match now, and ${expected} were expected; count them again with dryRun.`;
    return new Refusal('COUNT_CHANGED', error, { matched });
  }
  if (matched > MAX_REPLAYED) {
    const error = `${matched} events match, and at most ${MAX_REPLAYED} are sent again at once; choose a shorter time.`;
    return new Refusal('QUERY_TOO_BROAD', error);
  }
  const filter = { ...span, endpointId: endpoint.id };
  return change('webhook.replay', endpoint, by, deps, () => deps.webhooks.replayMany(filter, deps.clock.now()));
}

async function turn(
  action: ActAction,
  type: 'DISABLE' | 'ENABLE',
  { id, tenantId, ...rest }: WebhookEndpoint,
  by: ChangedBy,
  deps: EndpointsDeps,
): Promise<WebhookEndpoint | Refusal> {
  return change(action, { id, tenantId }, by, deps, async () => {
    const outcome = await deps.host.send(id, { type, at: deps.clock.now() });
    return outcome === undefined ? gone() : { ...rest, tenantId, ...outcome.record };
  });
}

function change<T>(
  action: ActAction,
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  by: ChangedBy,
  { acts, clock }: Pick<EndpointsDeps, 'acts' | 'clock'>,
  make: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const act = newAct({ ...by, atMs: clock.now(), action, target: id, tenantId });
  return audited(acts, act, make, (made) => (made instanceof Refusal ? 'unchanged' : 'done'));
}

/** What is wrong with the given fields. A host name that does not resolve now is accepted, because it may later. */
async function findFaults(
  { url, types }: EndpointWish,
  { outbound, urlRule }: Pick<EndpointsDeps, 'outbound' | 'urlRule'>,
): Promise<Refusal | undefined> {
  const details = [...faultsOf('url', webhookUrl, url), ...faultsOf('types', wantedTypes, types)];
  if (url !== undefined && details.every(({ path }) => path !== 'url')) {
    const message = findUrlFault(url, urlRule) ?? (await findForbidden(new URL(url), outbound));
    if (message !== undefined) details.push({ path: 'url', message });
  }
  return details.length === 0 ? undefined : wrongFields('INVALID_REQUEST', details);
}

function faultsOf(path: string, schema: typeof webhookUrl | typeof wantedTypes, value: unknown) {
  const issues = value === undefined ? [] : (schema.safeParse(value).error?.issues ?? []);
  return issues.map(({ message }) => ({ path, message }));
}

async function findForbidden(url: URL, outbound: Pick<Outbound, 'check'>): Promise<string | undefined> {
  try {
    await outbound.check(url);
  } catch (fault) {
    if (!(fault instanceof OutboundFailure)) throw fault;
    if (fault.kind === 'forbidden')
      return 'leads to an address that is not of the public internet (OUTBOUND_ALLOW_CIDRS)';
  }
  return undefined;
}

function unique(types: readonly string[]): readonly string[] {
  return [...new Set(types)];
}

/** The refusal where an endpoint does not exist, or the operator does not see it. */
export function gone(): Refusal {
  return new Refusal('NOT_FOUND', 'There is no webhook of this id.');
}

/** The refusal where a delivery does not exist. */
export function noDelivery(): Refusal {
  return new Refusal('NOT_FOUND', 'Nothing of this id was told to the webhook, or it is kept no more.');
}

function tooMany(tenantId: string | null): Refusal {
  const whose = tenantId === null ? 'The installation' : `The tenant "${tenantId}"`;
  return new Refusal('CONFLICT', `${whose} has ${MAX_ENDPOINTS} webhooks, and may have no more; delete one first.`);
}
