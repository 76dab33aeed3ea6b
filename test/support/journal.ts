/** What a client asked for. */
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

/** An HTTP status, or what happened instead: nobody listened, the connection broke, or the client lost its patience. */
export type Outcome = number | 'refused' | 'broken' | 'timeout';

/** What a request was about; which of the fields it has depends on the call. */
export interface About {
  readonly email?: string;
  readonly session?: string;
  /** The idempotency key. */
  readonly key?: string;
  readonly tokens?: number;
  /** The id of a widget key that may be revoked. */
  readonly keyId?: string;
  /** A login code. */
  readonly code?: string;
}

/** One request and its answer. Times are milliseconds since the Unix epoch by the one clock of this machine. */
export interface Entry {
  readonly call: Call;
  readonly node: number;
  readonly sentAt: number;
  readonly doneAt: number;
  readonly outcome: Outcome;
  /** The error's code. */
  readonly code: string | undefined;
  /** Why the session had ended. */
  readonly reason: string | undefined;
  readonly about: About;
}

/** One WebSocket of a session, from its upgrade to its close. */
export interface SocketLife {
  readonly session: string;
  readonly node: number;
  /** When the server said that it is attached. */
  attachedAt?: number;
  /** Each time that it was told of the session's end. */
  readonly ends: { readonly at: number; readonly reason: string }[];
  /** Frames that came after an end. */
  framesAfterEnd: number;
  closedAt?: number;
  closeCode?: number;
  /** The client let go of it first. */
  isLeft: boolean;
}

/** What the clients saw, in the order in which it ended. */
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

/** Whether the client knows that the request was refused, before anything was done. */
export function isUnknown({ outcome }: Pick<Entry, 'outcome'>): boolean {
  return outcome === 'broken' || outcome === 'timeout' || (typeof outcome === 'number' && outcome >= 500);
}
