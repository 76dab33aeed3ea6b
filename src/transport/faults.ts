/**
 * A defect of the handler: it let an upgrade proceed after a wait. uWebSockets.js 20.51 can take such a connection for one that
 * still speaks HTTP, and close it (uWebSockets pull request 1929). Refusing an upgrade may take its time.
 */
export class LateUpgrade extends Error {
  override readonly name = 'LateUpgrade';

  constructor() {
    super('an upgrade must be let through before anything is waited for');
  }
}
