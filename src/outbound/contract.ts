/** One request to a server that a tenant named. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** Checked by `findUrlFault` before, when it was configured; it is checked again. */
  readonly url: URL;
  /** Whose request it is: failures and requests in flight are counted for each owner and host. */
  readonly owner: string;
  /** The voice session for which it is sent: one of them holds few of the owner's places at a host. */
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Milliseconds until the last byte of the reply. */
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  /** What the reply says is not asked for: one that is larger is not read on, and counts all the same. */
  readonly isBodyIgnored?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface OutboundReply {
  /** As it came: redirects are not followed. */
  readonly status: number;
  readonly contentType: string | undefined;
  /** As it came: seconds or a date. */
  readonly retryAfter?: string | undefined;
  readonly body: Buffer;
}

/**
 * Why there is no reply. `forbidden`: the address, or one of those of its name, is none that Switchboard may reach; `too_many`: too many
 * requests are in flight; `aborted`: the caller gave up.
 */
export type OutboundFailureKind = 'forbidden' | 'unreachable' | 'timed_out' | 'too_large' | 'too_many' | 'aborted';

/** The `detail` of `unreachable` for a host that failed too often to be tried now. */
export const PAUSED = 'PAUSED';

/** The reply did not come. `detail` is a system error code at most: errors of the HTTP client may quote headers. */
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

/** The one way to servers that tenants name, which may be hostile, or be named to reach what only this machine can. */
export interface Outbound {
  /** @throws OutboundFailure */
  request(request: OutboundRequest): Promise<OutboundReply>;
  /** Whether the address may be reached as its name leads now. @throws OutboundFailure: `forbidden`, or that it is not known */
  check(url: URL): Promise<void>;
  /** Lets go of idle connections. */
  close(): void;
}
