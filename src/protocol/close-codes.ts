/** Close codes of the heartbeat channel (docs/contract.md, section 7.4). */
export const closeCode = {
  goingAway: 1012,
  badFrames: 4400,
  noAttach: 4401,
  sessionOver: 4403,
  unknownSession: 4404,
  resumedElsewhere: 4408,
  tooMany: 4429,
  overloaded: 4503,
} as const;

export const closeMeanings: Readonly<Record<keyof typeof closeCode, string>> = {
  goingAway: 'the node is going away: connect again',
  badFrames: 'three bad frames',
  noAttach: 'no attach in time',
  sessionOver: 'the session is over',
  unknownSession: 'unknown session, or an e-mail address that is not its own',
  resumedElsewhere: 'another page goes on with the session',
  tooMany: 'too many frames, or too many sockets of one session or address',
  overloaded: 'the client does not read what it is sent',
};
