import { createHmac } from 'node:crypto';
import { MINUTE_MS } from '../kernel/time.ts';
import type { ChallengedKey } from './contract.ts';

/** For how many minutes after that of its challenge a solution counts. */
const MINUTES = 5;
const CHARACTERS = 22;

/** Binds challenges to a widget key, its origin and a few minutes, so that a solution cannot be used elsewhere or later. */
export interface Binding {
  /** 22 characters of base64url for a challenge that is issued now. */
  dataFor(key: ChallengedKey, atMs: number): string;
  /** Whether the data was made for this key in the last five minutes. */
  holds(data: string, key: ChallengedKey, atMs: number): boolean;
}

/** @param secret of the installation, so that every node recognizes what another has bound */
export function createBinding(secret: Buffer): Binding {
  function dataOf({ key, origin }: ChallengedKey, minute: number): string {
    const text = JSON.stringify(['challenge', key, origin, minute]);
    return createHmac('sha256', secret).update(text).digest('base64url').slice(0, CHARACTERS);
  }

  return {
    dataFor: (key, atMs) => dataOf(key, Math.floor(atMs / MINUTE_MS)),
    holds(data, key, atMs) {
      const now = Math.floor(atMs / MINUTE_MS);
      for (let minute = now; minute >= now - MINUTES; minute -= 1) if (data === dataOf(key, minute)) return true;
      return false;
    },
  };
}
