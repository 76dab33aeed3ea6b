/** One request to a server that a tenant named. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** Checked by `findUrlFault` when it was configured, and again for each request. */
  readonly url: URL;
  /** The owner of the request: failures and requests in flight are counted for each owner and host. */
  readonly owner: string;
  /** The voice session that the request is for: each may hold only a few of the owner's places at a host. */
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Milliseconds until the last byte of the reply. */
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  /** The content of the reply is not needed: a longer one is not read to its end, and is no failure. */
  readonly isBodyIgnored?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OutboundReply {
  /** As received: redirects are not followed. */
  readonly status: number;
  readonly contentType: string | undefined;
  /** As received: seconds or a date. */
  readonly retryAfter?: string | undefined;
  readonly body: Buffer;
}

/**
 * Why there is no reply. `forbidden`: the address, or one that its name resolves to, is not one that Switchboard may reach; `too_many`: too
 * many requests are in flight; `aborted`: the caller gave up.
 */
export type OutboundFailureKind = 'forbidden' | 'unreachable' | 'timed_out' | 'too_large' | 'too_many' | 'aborted';

/** The `detail` of `unreachable` for a host that failed too often and is not tried at present. */
export const PAUSED = 'PAUSED';

/** No reply came. `detail` is at most a system error code, because errors of the HTTP client may quote headers. */
export class OutboundFailure extends Error {
  readonly kind: OutboundFailureKind;
  readonly detail: string | undefined;

  constructor(kind: OutboundFailureKind, detail?: string) {
    super(detail === undefined ? kind : `${kind}: ${detail}`);
    this.name = 'OutboundFailure';
    this.kind = kind;
    this.detail = detail;
  }
}

/** The only way to reach servers that tenants name. Those may be hostile, or named in order to reach what only this machine can. */
export interface Outbound {
  /** @throws OutboundFailure */
  request(request: OutboundRequest): Promise<OutboundReply>;
  /** Resolves if the address may be reached as its name resolves now. @throws OutboundFailure: `forbidden`, or that it does not resolve */
  check(url: URL): Promise<void>;
  /** Closes all connections: requests under way fail. */
  close(): void;
}
