/** The requests that clients make. */
export type Call =
  | 'create'
  | 'heartbeat'
  | 'attach'
  | 'end'
  | 'usage'
  | 'call'
  | 'send'
  | 'verify'
  | 'check'
  | 'logout'
  | 'revokeKey'
  | 'revokeLogin';

/** An HTTP status, or what happened instead: connection refused, connection broken, or the client's timeout. */
export type Outcome = number | 'refused' | 'broken' | 'timeout';

/** What a request was about; which fields are present depends on the call. */
export interface About {
  readonly email?: string;
  readonly session?: string;
  /** The idempotency key. */
  readonly key?: string;
  readonly tokens?: number;
  /** The id of a widget key that another request may revoke. */
  readonly keyId?: string;
  /** A login code. */
  readonly code?: string;
}

/** One request and its answer. Times are milliseconds since the Unix epoch, all by the clock of this machine. */
export interface Entry {
  readonly call: Call;
  readonly node: number;
  readonly sentAt: number;
  readonly doneAt: number;
  readonly outcome: Outcome;
  /** The error code of the reply. */
  readonly code: string | undefined;
  /** Why the session had already ended. */
  readonly reason: string | undefined;
  readonly about: About;
}

/** One WebSocket of a session, from upgrade to close. */
export interface SocketLife {
  readonly session: string;
  readonly node: number;
  /** When the server confirmed the attach. */
  attachedAt?: number;
  /** Each message that announced the session's end. */
  readonly ends: { readonly at: number; readonly reason: string }[];
  /** How many frames arrived after an end. */
  framesAfterEnd: number;
  closedAt?: number;
  closeCode?: number;
  /** Whether the client closed the connection first. */
  isLeft: boolean;
}

/** What the clients saw, ordered by when each request or socket finished. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly sockets: SocketLife[] = [];

  add(entry: Entry): void {
    this.entries.push(entry);
  }

  of(...calls: readonly Call[]): Entry[] {
    return this.entries.filter(({ call }) => calls.includes(call));
  }
}

/** Whether the client cannot tell if the request took effect. */
export function isUnknown({ outcome }: Pick<Entry, 'outcome'>): boolean {
  return outcome === 'broken' || outcome === 'timeout' || (typeof outcome === 'number' && outcome >= 500);
}
