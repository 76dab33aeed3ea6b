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
  end(body?: string | Buffer, closeConnection?: boolean): NativeResponse;
  /** Takes a length and a flag as well, which do not work: see reply.ts. */
  endWithoutBody(): NativeResponse;
  close(): NativeResponse;
}
