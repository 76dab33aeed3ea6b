import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const FORM = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** None of the keys opens it: it was sealed by another key or for another place, or was changed. */
export class SealBroken extends Error {
  constructor() {
    super('the seal cannot be opened by any of the keys');
    this.name = 'SealBroken';
  }
}

/** Seals texts for one place each (`place`), such as the row in which they are stored: in another place they do not open. */
export interface Sealer {
  seal(text: string, place: string): Buffer;
  /** @throws SealBroken */
  open(sealed: Buffer, place: string): string;
}

/**
 * Seals with AES-256-GCM and a random nonce.
 * @param masters at least one; the first seals, any of them opens
 * @param purpose what is sealed: keys that are derived from one master for two purposes have nothing to do with each other
 */
export function createSealer(masters: readonly [Buffer, ...Buffer[]], purpose: string): Sealer {
  const derive = (master: Buffer): Buffer => Buffer.from(hkdfSync('sha256', master, '', purpose, KEY_BYTES));
  const keys = masters.map(derive);
  const [first] = keys as [Buffer, ...Buffer[]];
  return {
    seal(text, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.from([FORM]), nonce, cipher.getAuthTag(), body]);
    },

    open(sealed, place) {
      if (sealed.length < HEAD_BYTES || sealed[0] !== FORM) throw new SealBroken();
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const tag = sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES);
      for (const key of keys) {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(place))
          .setAuthTag(tag);
        try {
          return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]).toString('utf8');
        } catch {
          // Sealed with another of the keys, or broken.
        }
      }
      throw new SealBroken();
    },
  };
}
