import type { EndpointRecord } from '../../../machines/webhook-endpoint/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { KeptTrace } from '../../kernel/trace-context.ts';
import type { TEST_TYPE, WebhookType } from '../../protocol/webhook-event.ts';
import type { TenantScope } from '../tenants/contract.ts';

/** Where facts are told to, and how it does. */
export interface WebhookEndpoint extends EndpointRecord {
  /** Null for one of the installation, which is told the facts of all tenants. */
  readonly tenantId: string | null;
  readonly url: string;
  /** The types of facts that it is told (`protocol/webhook-event.ts`). */
  readonly types: readonly string[];
  readonly createdAtMs: number;
  /** Who made it, as the journal names who acts. */
  readonly createdBy: string;
}

/** The id of an endpoint that the tenants file names: those that are added otherwise have no colon. */
export function namedEndpoint(tenantId: string, name: string): string {
  return `${tenantId}:${name}`;
}

/** What people are told of webhooks by mail, and nobody by webhook. */
export type MailedType = 'webhook.failing' | 'webhook.disabled';

/** A fact whose data whoever saves it has made. */
export interface GivenFact {
  readonly type: WebhookType | MailedType;
  /** Null for one of the installation, of which its own endpoints are told alone. */
  readonly tenantId: string | null;
  readonly atMs: number;
  readonly data: object;
  /** Addresses that are told by mail. */
  readonly mailTo?: readonly string[];
}

export interface TroubledWebhooks {
  readonly failing: number;
  readonly disabled: number;
}

/** With an address behind it this is the endpoint of the deliveries that are mails: no id of an endpoint has an @. */
export const MAILBOX = 'mailto:';

/** The code of a mail that waits because there were too many in its hour. */
export const DEFERRED = 'deferred';

/** What may be changed of an endpoint. */
export type EndpointWish = Partial<Pick<WebhookEndpoint, 'url' | 'types'>>;

/** `waiting`: is sent when its time comes; `dead`: all tries failed. */
export type DeliveryState = 'waiting' | 'delivered' | 'dead';

/** One event for one endpoint. */
export interface WebhookDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly type: string;
  /** The ref of the session that the event tells of; null where it tells of none. */
  readonly session: string | null;
  /** When what it tells happened. */
  readonly atMs: number;
  readonly state: DeliveryState;
  /** Requests so far, since it was told or asked for again. */
  readonly attempts: number;
  /** When it is sent next, or the node that sends it now must be done; null where it is over. */
  readonly nextAtMs: number | null;
  readonly doneAtMs: number | null;
  /** Of the last request; null where there was none. */
  readonly lastAtMs: number | null;
  readonly lastStatus: number | null;
  /** Why there was no status, in a word. */
  readonly lastCode: string | null;
  readonly ms: number | null;
}

export interface DeliveryWithBody extends WebhookDelivery {
  /** As it is sent. */
  readonly body: string;
}

/** A delivery that a node may send, until its lease ends. */
export interface ClaimedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly atMs: number;
  readonly body: string;
  /** Of the session that it tells of; null where that has none, absent from mails. */
  readonly trace?: Pick<KeptTrace, 'traceId' | 'isSampled'> | null;
  readonly attempts: number;
  /** Until when it is this node's; it names the claim as well. */
  readonly untilMs: number;
}

/** A fact that a node may mail, until its lease ends. */
export interface ClaimedMail extends ClaimedDelivery {
  readonly tenantId: string | null;
  readonly to: string;
  /** It waited because there were too many in its hour. */
  readonly isDeferred: boolean;
}

/** What came of a request: `nextAtMs` null with `dead` or `delivered`. */
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
  /** Endpoints of which nothing is claimed: this node sends to them already. */
  readonly busy: readonly string[];
  readonly maxEndpoints: number;
  /** Deliveries of each endpoint. */
  readonly each: number;
  /** Of an endpoint that came back, those that it missed, beside the others: a server that was away is not flooded. */
  readonly eachMissed: number;
}

export interface ClaimedEndpoint extends Pick<WebhookEndpoint, 'id' | 'tenantId' | 'url' | 'failures' | 'state'> {
  /** The oldest first. */
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

export interface DeliveryPage {
  /** The newest first. */
  readonly rows: readonly WebhookDelivery[];
  readonly next: DeliveryPosition | undefined;
  /** Whether it is short because enough was looked through. */
  readonly isPartial: boolean;
}

/** Which deliveries of an endpoint are sent again: of what happened from one instant to before another. */
export interface ReplayFilter {
  readonly endpointId: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** All where none are named. */
  readonly types?: readonly string[] | undefined;
}

/**
 * Endpoints of webhooks, what they are told, and what was sent. What is told is written by the statements that make it true (`told.ts`); this
 * reads, claims and notes. @throws Unavailable when the database is away
 */
export interface Webhooks extends RecordStore<EndpointRecord> {
  load(id: string): Promise<EndpointRecord | undefined>;
  /** @param facts what becomes true by it, and is told */
  save(record: EndpointRecord, expectedVersion: number, facts?: readonly GivenFact[]): Promise<boolean>;
  /** @returns false, and adds nothing, where its tenant has `most` already, or one of this id */
  insert(endpoint: WebhookEndpoint, most: number): Promise<boolean>;
  find(id: string): Promise<WebhookEndpoint | undefined>;
  /** By tenant and id. @param tenants whose; all, and those of the installation, where none are named */
  list(tenants?: readonly string[]): Promise<readonly WebhookEndpoint[]>;
  /** How many of them are told nothing now, but those that somebody has switched off. */
  countTroubled(tenants?: readonly string[]): Promise<TroubledWebhooks>;
  /** Of events from now on. @returns it as it is then; undefined where there is none */
  change(id: string, wish: EndpointWish): Promise<WebhookEndpoint | undefined>;
  /** With what waits for it. @returns whether it was there */
  delete(id: string): Promise<boolean>;
  /** Tells one endpoint alone. @returns the event's id; undefined where there is no such endpoint */
  tell(endpointId: string, type: typeof TEST_TYPE, data: object, atMs: number): Promise<string | undefined>;
  /** Tells what sessions cost in all, once all their calls are over and counted: those that ended at `directBeforeMs`, or whose calls the service heard. @returns how many */
  settle(atMs: number, directBeforeMs: number, limit: number): Promise<number>;
  /**
   * Claims what is due, of endpoints that are healthy: no other node gets it before `untilMs`.
   * @returns `hasEndpoints`: whether there is any endpoint at all
   */
  claim(
    request: ClaimRequest,
  ): Promise<{ readonly hasEndpoints: boolean; readonly claimed: readonly ClaimedEndpoint[] }>;
  /** Failing endpoints that may be probed, and have what to send, or that are given up. */
  probesDue(atMs: number, failingBeforeMs: number, limit: number): Promise<readonly string[]>;
  /** Claims one delivery of an endpoint, whatever its state; undefined where none is due. */
  claimOne(endpointId: string, atMs: number, untilMs: number): Promise<ClaimedEndpoint | undefined>;
  /** Notes what came of a request. What another node has claimed since is not changed, but by a delivery. */
  finish(claim: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void>;
  /**
   * Makes due what waits for longer than it may: it was told, or tried, when the clock was ahead.
   * @param longestMs by how many tries failed
   */
  hurry(atMs: number, longestMs: readonly number[]): Promise<void>;
  /** Gives claims back that were not used. */
  release(claims: readonly ClaimedDelivery[], atMs: number): Promise<void>;
  /** Claims mails that are due, the oldest first. @param each of one address */
  claimMails(atMs: number, untilMs: number, each: number): Promise<readonly ClaimedMail[]>;
  /** Leaves claimed mails to a later time, because there were too many. */
  defer(claims: readonly ClaimedDelivery[], untilMs: number): Promise<void>;
  /** @param after where an earlier page ended */
  deliveries(filter: DeliveryFilter, after: DeliveryPosition | undefined, limit: number): Promise<DeliveryPage>;
  delivery(endpointId: string, eventId: string): Promise<DeliveryWithBody | undefined>;
  /** What endpoints of some tenants, or of all, were told of a session, the newest first. */
  ofSession(
    ref: string,
    tenants: TenantScope,
    limit: number,
  ): Promise<readonly (WebhookDelivery & Pick<WebhookEndpoint, 'tenantId' | 'url'>)[]>;
  /** How many of an endpoint wait, by endpoint. */
  countWaiting(endpointIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Sends it again, under the same id, with all its tries. @returns whether there is one */
  replay(endpointId: string, eventId: string, atMs: number): Promise<boolean>;
  countReplay(filter: ReplayFilter): Promise<number>;
  /** The same for many. @returns how many */
  replayMany(filter: ReplayFilter, atMs: number): Promise<number>;
}
