/**
 * The part of uWebSockets.js that this folder uses, written down once, so that both versions (`uws-current` and
 * `uws-compatible`) answer to one shape and nothing else of them can be leant on.
 */
export interface Uws {
  App(): NativeApp;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  /** Without it Linux shares a port between processes (SO_REUSEPORT) and a second server steals half of the traffic. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** Opaque; using it after us_listen_socket_close is a crash. */
export interface ListenSocket {
  readonly listenSocket: never;
}

export interface NativeApp {
  ws(pattern: string, behavior: NativeSocketBehavior): NativeApp;
  any(pattern: string, handler: (res: NativeResponse, req: NativeRequest) => void): NativeApp;
  /** Called with +1 and -1 as connections open and close. */
  filter(handler: (res: NativeResponse, change: number) => void): NativeApp;
  listen(host: string, port: number, options: number, done: (socket: ListenSocket | false) => void): NativeApp;
  /** Closes every connection at once. */
  close(): NativeApp;
}

/** Dead after the handler has returned. */
export interface NativeRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** The older version returns undefined where there is no question mark. */
  getQuery(): string | undefined;
  /** Empty where there is none; of several the first. */
  getHeader(name: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** Dead after an abort and after `end`: any use then throws. */
export interface NativeResponse {
  onAborted(handler: () => void): NativeResponse;
  /** The chunk's memory is taken back when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): NativeResponse;
  /** 4 or 16 bytes. It costs more than all headers together, hence once per request. */
  getRemoteAddress(): ArrayBuffer;
  cork(write: () => void): NativeResponse;
  writeStatus(status: string): NativeResponse;
  /** What the connection does not take now waits in memory, and the next request on it is served all the same. */
  end(body?: string | Buffer, closeConnection?: boolean): NativeResponse;
  /** Sends a part in chunks, and keeps what the connection does not take now: false then. Nothing but `write` and `end` may follow. */
  write(part: Buffer): boolean;
  /** Writes what the connection takes now, and keeps nothing: whether that was all that was given, and whether the reply is complete. */
  tryEnd(body: Buffer, totalBytes: number): readonly [isWritten: boolean, isComplete: boolean];
  /** When the connection takes more; the answer says whether it took all that was given. Not after an abort. */
  onWritable(handler: (writtenBytes: number) => boolean): NativeResponse;
  /** Takes a length and a flag as well, which do not work: see reply.ts. */
  endWithoutBody(): NativeResponse;
  close(): NativeResponse;
}

export interface NativeUpgradeResponse extends NativeResponse {
  /** Calls `open` before it returns. The response is dead afterwards. */
  upgrade(userData: object, key: string, subprotocol: string, extensions: string, context: UpgradeContext): void;
}

/** Opaque; belongs to one upgrade. */
export interface UpgradeContext {
  readonly upgradeContext: never;
}

export interface NativeSocketBehavior {
  readonly maxPayloadLength: number;
  /** Seconds, 0 or 8 to 960. */
  readonly idleTimeout: number;
  readonly sendPingsAutomatically: boolean;
  readonly maxBackpressure: number;
  readonly closeOnBackpressureLimit: boolean;
  readonly maxLifetime: number;
  /** 0 for none. */
  readonly compression: number;
  readonly upgrade: (res: NativeUpgradeResponse, req: NativeRequest, context: UpgradeContext) => void;
  readonly open: (ws: NativeSocket) => void;
  /** The data's memory is taken back when the handler returns. Text has been found to be UTF-8. */
  readonly message: (ws: NativeSocket, data: ArrayBuffer, isBinary: boolean) => void;
  /** The pong has been sent already. */
  readonly ping: (ws: NativeSocket) => void;
  /** Comes once, also after `end`, and before `end` returns. The socket is dead afterwards: any use throws. */
  readonly close: (ws: NativeSocket, code: number) => void;
}

/** The same object in every callback of one connection, so that a property on it stays. */
export interface NativeSocket {
  /** What `src/transport/socket.ts` keeps there. */
  owner?: unknown;
  /** Of the data that `upgrade` was given. */
  readonly client?: string;
  /** 1: written. 0: waits in memory. 2: dropped, more than maxBackpressure waits already. */
  send(message: string, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  /** Sends a close frame, and closes when it is out. */
  end(code: number, reason: string): void;
  /** Closes at once, without a close frame. */
  close(): void;
}
