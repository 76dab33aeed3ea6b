import { createRequire } from 'node:module';
import type * as Werift from 'werift';

/** The echo agent's WebRTC library. It is an optional dependency, so only its types may be imported. */
export type WebRtc = typeof Werift;

export type LoadWebRtc = () => Promise<WebRtc>;

/**
 * Looks for the library, which is installed along so that calls work with `npx switchboard`.
 * @returns a function that loads it, because that takes half a second, which most starts need not spend; undefined if it is not installed
 */
export function findWebRtc(): LoadWebRtc | undefined {
  try {
    createRequire(import.meta.url).resolve('werift');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  return () => import('werift');
}
