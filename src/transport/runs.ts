/** The last request of a run of so many is answered a turn later. */
const LONGEST = 16;
/** From so many on the end of the turn is looked out for: runs that are shorter cost nothing. */
const WATCHED = 8;

/**
 * Finds requests of one address that follow each other in one turn of the event loop. Those of one connection that came in one go do:
 * uWebSockets.js hands them on one after the other without letting anybody else have a turn, and does not tell that they share a
 * connection. So a run may also be many connections of one proxy, and its last reply waits for the end of the turn: that costs such
 * connections nothing, and a connection with one more request behind it is closed.
 */
export class Runs {
  #peer = '';
  #length = 0;

  /** Counts a request, and tells whether it is the last of a longest run. */
  isOver(peer: string): boolean {
    if (peer !== this.#peer) {
      this.#peer = peer;
      this.#length = 0;
    }
    this.#length += 1;
    if (this.#length === WATCHED) setImmediate(() => (this.#length = 0));
    if (this.#length < LONGEST) return false;
    this.#length = 0;
    return true;
  }
}
