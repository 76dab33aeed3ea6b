export type Header = readonly [name: string, value: string];

export const JSON_TYPE: Header = ['Content-Type', 'application/json; charset=utf-8'];

/** Headers that many replies share. */
export interface SharedHeaders {
  readonly headers: readonly Header[];
  /** The same headers, checked and serialized. The transport sets this once it has sent them. */
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
  /** Names in lower case. A header that must be single and came more than once is in `duplicates` instead. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names of headers that came more than once although they must be single. */
  readonly duplicates: readonly string[];
  /** The peer's address as text, without an ::ffff: prefix. */
  readonly peer: string;
  readonly requestId: string;
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** The whole body, or why there is none. Read it from here and do not keep it: a handler that waits finds a copy in its place. */
  readonly body: Buffer | 'too_large';
  /** Aborts when the client disconnects before it is answered; created only on demand. */
  signal(): AbortSignal;
}

/** A reply as a value; the transport adds nothing but framing. */
export interface HttpReply {
  readonly status: number;
  /** Sent before `headers`; no header is in both. */
  readonly shared?: SharedHeaders | undefined;
  /** More headers, already serialized, each as CRLF and `Name: value`. Only values that need no check: numbers and our own ids. */
  readonly lines?: string | undefined;
  readonly headers: readonly Header[];
  readonly body: string | Buffer;
  /** Replaces `body`: each part is requested once the client has taken the one before; a fault closes the connection. */
  readonly parts?: AsyncIterable<string> | undefined;
  /** With status 101: the client of the new socket, as the edge windows name its address. */
  readonly client?: string | undefined;
}

// Headers that keep browsers from misusing a reply (docs/security.md, Logins and caches).

export const noSniff: Header = ['X-Content-Type-Options', 'nosniff'];

/** Sent where browsers reach the service over https. */
export const httpsOnly: Header = ['Strict-Transport-Security', 'max-age=31536000'];

/** Sent with everything that a browser may show as a page. */
export const pageHeaders: readonly Header[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
];

/** For replies that a browser may show but that are no pages: they load nothing, and cannot be framed. */
export const barePolicy: Header = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];
