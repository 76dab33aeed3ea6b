/** 128 random bits; crypto.randomUUID is missing on pages without https. */
export function makeId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
