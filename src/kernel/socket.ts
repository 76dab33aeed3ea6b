/** One WebSocket as its owner sees it; the transport implements it. */
export interface Socket {
  /** Tells what happened to the text. If it was dropped, too much is waiting and the socket must be closed. */
  send(text: string): 'sent' | 'buffered' | 'dropped';
  /** Sends a close frame and ends the connection; calling it again changes nothing. */
  close(code: number, reason: string): void;
}

/** What the transport tells a socket's owner. */
export interface SocketListener {
  /** The most bytes that a message may have; a longer one ends the connection without a close frame. Undefined: 4 KiB. */
  readonly maxMessageBytes?: number | undefined;
  /** A whole text message. */
  message(text: string): void;
  /** A message that is not text. */
  binary(): void;
  /** A ping, which has been answered already. */
  ping(): void;
  /** The connection is gone, whoever ended it. @param code from its close frame; 1006 if there was none (RFC 6455 7.4.1) */
  closed(code: number): void;
}

/** The listener of a socket that was refused. */
export const ignoring: SocketListener = { message() {}, binary() {}, ping() {}, closed() {} };
