/** One WebSocket as the channel sees it; the transport puts the real one behind it. */
export interface Socket {
  /** Says what became of the text: a socket that drops has too much waiting and must be closed. */
  send(text: string): 'sent' | 'buffered' | 'dropped';
  /** Sends a close frame and ends the connection; calling it again changes nothing. */
  close(code: number, reason: string): void;
}

/** What the transport tells a socket's owner. */
export interface SocketListener {
  /** A whole text message. */
  message(text: string): void;
  /** A message that is no text. */
  binary(): void;
  /** A ping, which is answered already. */
  ping(): void;
  /** The connection is gone, whoever ended it. */
  closed(): void;
}

/** Close codes (contract section 7). */
export const closeCode = {
  goingAway: 1012,
  badFrames: 4400,
  noAttach: 4401,
  sessionOver: 4403,
  unknownSession: 4404,
  tooMany: 4429,
  overloaded: 4503,
} as const;
