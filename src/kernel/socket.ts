/** One WebSocket as its owner sees it; the transport puts the real one behind it. */
export interface Socket {
  /** Says what became of the text: a socket that drops has too much waiting and must be closed. */
  send(text: string): 'sent' | 'buffered' | 'dropped';
  /** Sends a close frame and ends the connection; calling it again changes nothing. */
  close(code: number, reason: string): void;
}

/** What the transport tells a socket's owner. */
export interface SocketListener {
  /** Bytes that a message may have; a longer one ends the connection without a close frame. Undefined: 4 KiB. */
  readonly maxMessageBytes?: number | undefined;
  /** A whole text message. */
  message(text: string): void;
  /** A message that is no text. */
  binary(): void;
  /** A ping, which is answered already. */
  ping(): void;
  /** The connection is gone, whoever ended it. @param code as in its close frame; 1006 where there was none (RFC 6455 7.4.1) */
  closed(code: number): void;
}
