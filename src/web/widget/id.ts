/** An id of 128 random bits. Pages without https have no crypto.randomUUID. */
export function makeId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
