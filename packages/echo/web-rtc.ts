import { createRequire } from 'node:module';
import type * as Werift from 'werift';

/** The WebRTC library of the echo agent: an optional dependency, so that only its types may be imported. */
export type WebRtc = typeof Werift;

export type LoadWebRtc = () => Promise<WebRtc>;

/**
 * Looks for the library, which comes along so that `npx switchboard` talks.
 * @returns the way to load it, which takes half a second that most starts need not spend; undefined where it is not installed
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
