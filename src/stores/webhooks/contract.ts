import type { EndpointRecord } from '../../../machines/webhook-endpoint/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';
import type { KeptTrace } from '../../kernel/trace-context.ts';
import type { TEST_TYPE, WebhookType } from '../../protocol/webhook.ts';
import type { Tenant, TenantScope, TenantWebhook } from '../tenants/contract.ts';
import type { Page } from '../voice-history/contract.ts';

/** Where facts are sent, and how that endpoint is doing. */
export interface WebhookEndpoint extends EndpointRecord {
  /** Null for an endpoint of the installation, which is told the facts of all tenants. */
  readonly tenantId: string | null;
  readonly url: string;
  /** The types of facts that it is told (`protocol/webhook.ts`). */
  readonly types: readonly string[];
  readonly createdAtMs: number;
  /** Who created it, named as in the journal. */
  readonly createdBy: string;
}

/** The id of an endpoint from the tenants file; the ids of other endpoints have no colon. */
export function namedEndpoint(tenantId: string, name: string): string {
  return `${tenantId}:${name}`;
}

/** The webhooks of tenants of the file, with the ids of their endpoints. */
export function endpointsNamed(tenants: readonly Tenant[]): (TenantWebhook & { readonly tenantId: string })[] {
  return tenants.flatMap(({ id: tenantId, webhooks = [] }) =>
    webhooks.map((webhook) => ({ ...webhook, tenantId, id: namedEndpoint(tenantId, webhook.id) })),
  );
}

/** Facts about webhooks that people are told by mail, and nobody by webhook. */
export type MailedType = 'webhook.failing' | 'webhook.disabled';

/** A fact whose data is made by the code that saves it. */
export interface GivenFact {
  readonly type: WebhookType | MailedType;
  /** Null for a fact of the installation, which only the installation's endpoints are told. */
  readonly tenantId: string | null;
  readonly atMs: number;
  readonly data: object;
  /** E-mail addresses to notify. */
  readonly mailTo?: readonly string[];
}

export interface TroubledWebhooks {
  readonly failing: number;
  readonly disabled: number;
}

/** Followed by an address, this is the endpoint of deliveries that are mails: no other endpoint's id has an @. */
export const MAILBOX = 'mailto:';

/** The code of a mail that is postponed because there were too many in its hour. */
export const DEFERRED = 'deferred';

/** What may be changed about an endpoint. */
export type EndpointWish = Partial<Pick<WebhookEndpoint, 'url' | 'types'>>;

/** `waiting`: will be sent when its time comes; `dead`: all attempts failed. */
export type DeliveryState = 'waiting' | 'delivered' | 'dead';

/** One event for one endpoint. */
export interface WebhookDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly type: string;
  /** The ref of the session that the event is about; null if it is about none. */
  readonly session: string | null;
  /** When the event happened. */
  readonly atMs: number;
  readonly state: DeliveryState;
  /** Requests so far, since the event was written or was last replayed. */
  readonly attempts: number;
  /** When it is sent next, or by when the node that is sending it must be done; null once it is over. */
  readonly nextAtMs: number | null;
  readonly doneAtMs: number | null;
  /** When the last request was sent; null if there was none. */
  readonly lastAtMs: number | null;
  readonly lastStatus: number | null;
  /** Why there was no status, in a word. */
  readonly lastCode: string | null;
  readonly ms: number | null;
}

export interface DeliveryWithBody extends WebhookDelivery {
  /** The body as it is sent. */
  readonly body: string;
}

/** A delivery that a node may send until its lease ends. */
export interface ClaimedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly atMs: number;
  readonly body: string;
  /** The trace of the session that the event is about; null if that has none, absent for mails. */
  readonly trace?: Pick<KeptTrace, 'traceId' | 'isSampled'> | null;
  readonly attempts: number;
  /** Until when the delivery belongs to this node; it also identifies the claim. */
  readonly untilMs: number;
}

/** A fact that a node may mail until its lease ends. */
export interface ClaimedMail extends ClaimedDelivery {
  readonly tenantId: string | null;
  readonly to: string;
  /** It was postponed because there were too many in its hour. */
  readonly isDeferred: boolean;
}

/** The outcome of a request: `nextAtMs` is null with `dead` and `delivered`. */
export interface DeliveryOutcome {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAtMs: number | null;
  readonly atMs: number;
  readonly status: number | null;
  readonly code: string | null;
  readonly ms: number;
}

export interface ClaimRequest {
  readonly atMs: number;
  readonly untilMs: number;
  /** Endpoints of which nothing is claimed, because this node is sending to them already. */
  readonly busy: readonly string[];
  readonly maxEndpoints: number;
  /** How many deliveries of each endpoint. */
  readonly each: number;
  /** How many missed deliveries of an endpoint that has recovered, besides the others: a server that was away is not flooded. */
  readonly eachMissed: number;
  /** The pace of these over all nodes: one each time that this many milliseconds have passed, and `eachMissed` at once at most. */
  readonly missedEveryMs: number;
}

export interface ClaimedEndpoint extends Pick<WebhookEndpoint, 'id' | 'tenantId' | 'url' | 'failures' | 'state'> {
  /** Oldest first. */
  readonly deliveries: readonly ClaimedDelivery[];
}

export interface DeliveryFilter {
  readonly endpointId: string;
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  readonly session?: string | undefined;
}

export interface DeliveryPosition {
  readonly atMs: number;
  readonly eventId: string;
}

/** Newest first. */
export type DeliveryPage = Page<WebhookDelivery, DeliveryPosition>;

/** Which deliveries of an endpoint are sent again: those of events within [fromMs, toMs). */
export interface ReplayFilter {
  readonly endpointId: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** All types if not given. */
  readonly types?: readonly string[] | undefined;
}

/**
 * Endpoints of webhooks, what they are told, and what was sent. Events are written by the statements that make them true (`outbox.ts`); these methods
 * read, claim and record outcomes.
 * @throws Unavailable when the database is away
 */
export interface Webhooks extends Promised<RecordStore<EndpointRecord>> {
  /** @param facts what becomes true by the save, and is told with it */
  save(record: EndpointRecord, expectedVersion: number, facts?: readonly GivenFact[]): Promise<boolean>;
  /** @returns false, with nothing added, if its tenant has `most` already, or if there is one with this id */
  insert(endpoint: WebhookEndpoint, most: number): Promise<boolean>;
  find(id: string): Promise<WebhookEndpoint | undefined>;
  /** By tenant and id. @param tenants whose endpoints; if not given all, including those of the installation */
  list(tenants?: readonly string[]): Promise<readonly WebhookEndpoint[]>;
  /** How many endpoints are told nothing at present, apart from those that an operator has switched off. */
  countTroubled(tenants?: readonly string[]): Promise<TroubledWebhooks>;
  /** Applies to events from now on. @returns the changed endpoint; undefined if there is none */
  change(id: string, wish: EndpointWish): Promise<WebhookEndpoint | undefined>;
  /** Deletes an endpoint with its deliveries. @returns false, with nothing deleted, if it is not there, or if the tenants file names it */
  delete(id: string): Promise<boolean>;
  /** Tells one endpoint only. @returns the event's id; undefined if there is no such endpoint */
  tell(endpointId: string, type: typeof TEST_TYPE, data: object, atMs: number): Promise<string | undefined>;
  /**
   * Tells what sessions cost in all, once all their calls are over and counted: sessions of which the service heard everything, and others that
   * ended by `reportedBeforeMs`, because what nobody heard may be reported until then.
   * @returns how many
   */
  settle(atMs: number, reportedBeforeMs: number, limit: number): Promise<number>;
  /**
   * Claims due deliveries of healthy endpoints: no other node gets them before `untilMs`.
   * @returns `hasEndpoints`: whether there is any endpoint at all
   */
  claim(
    request: ClaimRequest,
  ): Promise<{ readonly hasEndpoints: boolean; readonly claimed: readonly ClaimedEndpoint[] }>;
  /** Failing endpoints that may be probed and either have something to send, or are to be given up. */
  probesDue(atMs: number, failingBeforeMs: number, limit: number): Promise<readonly string[]>;
  /** Claims one delivery of an endpoint, whatever the endpoint's state; undefined if none is due. */
  claimOne(endpointId: string, atMs: number, untilMs: number): Promise<ClaimedEndpoint | undefined>;
  /** Records the outcome of a request. If another node has claimed the delivery since, only a success is recorded. */
  finish(claim: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void>;
  /**
   * Makes due what waits longer than it may, because it was written or tried when the clock was ahead.
   * @param longestMs the longest wait, by the number of failed attempts
   */
  hurry(atMs: number, longestMs: readonly number[]): Promise<void>;
  /** Gives back claims that were not used. */
  release(claims: readonly ClaimedDelivery[], atMs: number): Promise<void>;
  /** Claims mails that are due, oldest first. @param each how many for one address */
  claimMails(atMs: number, untilMs: number, each: number): Promise<readonly ClaimedMail[]>;
  /** Postpones claimed mails, because there were too many. */
  defer(claims: readonly ClaimedDelivery[], untilMs: number): Promise<void>;
  /** @param after where the previous page ended */
  deliveries(filter: DeliveryFilter, after: DeliveryPosition | undefined, limit: number): Promise<DeliveryPage>;
  delivery(endpointId: string, eventId: string): Promise<DeliveryWithBody | undefined>;
  /** What the endpoints of some tenants, or of all, were told about a session, newest first. */
  ofSession(
    ref: string,
    tenants: TenantScope,
    limit: number,
  ): Promise<readonly (WebhookDelivery & Pick<WebhookEndpoint, 'tenantId' | 'url'>)[]>;
  /** How many deliveries wait, by endpoint. */
  countWaiting(endpointIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Sends an event again, under the same id, with all its attempts. @returns whether there is such a delivery */
  replay(endpointId: string, eventId: string, atMs: number): Promise<boolean>;
  countReplay(filter: ReplayFilter): Promise<number>;
  /** Replays all deliveries that match the filter. @returns how many */
  replayMany(filter: ReplayFilter, atMs: number): Promise<number>;
}
