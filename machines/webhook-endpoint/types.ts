export type EndpointState = 'healthy' | 'failing' | 'disabled';

/** Why nothing is sent to an endpoint: its server answered 410, it failed for days, or somebody switched it off. */
export type DisabledFor = 'gone' | 'failing' | 'operator';

/** The health of one webhook endpoint. Its address and its events are not part of it. Times are milliseconds since the Unix epoch. */
export interface EndpointRecord {
  readonly id: string;
  readonly state: EndpointState;
  /** In a row, while the endpoint is healthy. */
  readonly failures: number;
  /** Null unless it is failing. */
  readonly failingSinceMs: number | null;
  /** When the next single delivery may test whether a failing endpoint answers again; null unless it is failing. */
  readonly probeAtMs: number | null;
  /** Failed probes in a row. */
  readonly probes: number;
  /** When it answered again, for a healthy endpoint that had failed or was disabled before; otherwise null. */
  readonly healthySinceMs: number | null;
  /** Null unless it is disabled. */
  readonly disabledFor: DisabledFor | null;
  readonly version: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type EndpointEvent =
  | { readonly type: 'ADD'; readonly at: number; readonly id: string }
  | { readonly type: 'DELIVERED'; readonly at: number }
  | { readonly type: 'FAILED'; readonly at: number }
  /** Its server answered 410: it wants no more deliveries. */
  | { readonly type: 'GONE'; readonly at: number }
  /** A node wants to send one delivery to a failing endpoint; no other node does until `untilMs`. */
  | { readonly type: 'PROBE'; readonly at: number; readonly untilMs: number }
  | { readonly type: 'DISABLE'; readonly at: number }
  | { readonly type: 'ENABLE'; readonly at: number }
  | { readonly type: 'CLOCK'; readonly at: number };

export type EndpointFact =
  | { readonly type: 'webhook.failing' }
  | { readonly type: 'webhook.healthy' }
  /** The node that sent PROBE may send one delivery. */
  | { readonly type: 'webhook.probing' }
  | { readonly type: 'webhook.disabled'; readonly reason: DisabledFor };
