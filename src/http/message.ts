export type Header = readonly [name: string, value: string];

export const JSON_TYPE: Header = ['Content-Type', 'application/json; charset=utf-8'];

/** Headers that many replies have alike. */
export interface SharedHeaders {
  readonly headers: readonly Header[];
  /** The same, checked and as they are sent: the transport's, once it has sent them. */
  lines?: string;
}

/** A request as the routes see it: plain values, copied out of the transport before the first await. */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string;
  /** Without the query, still percent-encoded. */
  readonly path: string;
  /** Without the leading question mark. */
  readonly query: string;
  /** Names in lower case. A header that must be single and came twice is listed in `duplicates` instead. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names of headers that came more than once although they must be single. */
  readonly duplicates: readonly string[];
  /** The peer's address as text, without an ::ffff: prefix. */
  readonly peer: string;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** The whole body, or why there is none. To be read from here, and not kept: a handler that waits finds a copy in its place. */
  readonly body: Buffer | 'too_large';
  /** Aborts when the client goes away before it is answered; made only when somebody asks. */
  signal(): AbortSignal;
}

/** A reply as a value; the transport adds nothing but framing. */
export interface HttpReply {
  readonly status: number;
  /** Go before the others; none of them is in both. */
  readonly shared?: SharedHeaders | undefined;
  /** More of them as they are sent, each as CRLF and `Name: value`: only what cannot need a check, numbers and ids of our own. */
  readonly lines?: string | undefined;
  readonly headers: readonly Header[];
  readonly body: string | Buffer;
  /** In the place of `body`: each part is asked for once the client has taken the one before; a fault cuts the connection. */
  readonly parts?: AsyncIterable<string> | undefined;
  /** With status 101: whose socket it becomes, as the edge windows name an address. */
  readonly client?: string | undefined;
}
