/**
 * The part of uWebSockets.js that this folder uses, declared once, so that both versions (`uws-current` and
 * `uws-compatible`) have the same type and no code can depend on anything else in them.
 */
export interface Uws {
  App(): NativeApp;
  us_listen_socket_close(socket: ListenSocket): void;
  us_socket_local_port(socket: ListenSocket): number;
  /** Without it Linux shares a port between processes (SO_REUSEPORT), and a second server takes half of the traffic. */
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

/** Opaque; using it after us_listen_socket_close crashes the process. */
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

/** Invalid after the handler has returned. */
export interface NativeRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  /** The older version returns undefined where there is no question mark. */
  getQuery(): string | undefined;
  /** Empty where there is no such header; the first where there are several. */
  getHeader(name: string): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** Invalid after an abort and after `end`: any use then throws. */
export interface NativeResponse {
  onAborted(handler: () => void): NativeResponse;
  /** The chunk's memory is reclaimed when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): NativeResponse;
  /** 4 or 16 bytes. It costs more than all headers together, so it is called once per request. */
  getRemoteAddress(): ArrayBuffer;
  cork(write: () => void): NativeResponse;
  writeStatus(status: string): NativeResponse;
  /** What the connection does not take now waits in memory; the next request on it is served all the same. */
  end(body?: string | Buffer, closeConnection?: boolean): NativeResponse;
  /** Sends a chunk. Returns false if the connection does not take all of it now; the rest is buffered. Only `write` and `end` may follow. */
  write(part: Buffer): boolean;
  /** Writes what the connection takes now, and buffers nothing. Returns whether all of `body` was taken, and whether the reply is complete. */
  tryEnd(body: Buffer, totalBytes: number): readonly [isWritten: boolean, isComplete: boolean];
  /** Called when the connection takes more; the handler returns whether it took everything it was given. Not after an abort. */
  onWritable(handler: (writtenBytes: number) => boolean): NativeResponse;
  /** It also has parameters for a length and a flag, which do not work: see reply.ts. */
  endWithoutBody(): NativeResponse;
  close(): NativeResponse;
}

export interface NativeUpgradeResponse extends NativeResponse {
  /** Calls `open` before it returns. The response is invalid afterwards. */
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
  /** The data's memory is reclaimed when the handler returns. Text is already verified to be UTF-8. */
  readonly message: (ws: NativeSocket, data: ArrayBuffer, isBinary: boolean) => void;
  /** The pong has already been sent. */
  readonly ping: (ws: NativeSocket) => void;
  /** Called once, also after `end`, in that case before `end` returns. The socket is invalid afterwards: any use throws. */
  readonly close: (ws: NativeSocket, code: number) => void;
}

/** The same object in every callback of one connection, so properties set on it persist. */
export interface NativeSocket {
  /** Used by `src/transport/socket.ts`. */
  owner?: unknown;
  /** From the data given to `upgrade`. */
  readonly client?: string;
  /** 1: written. 0: waits in memory. 2: dropped, because more than maxBackpressure already waits. */
  send(message: string, isBinary: boolean, compress: boolean): number;
  getBufferedAmount(): number;
  /** Sends a close frame, and closes once it is sent. */
  end(code: number, reason: string): void;
  /** Closes at once, without a close frame. */
  close(): void;
}
