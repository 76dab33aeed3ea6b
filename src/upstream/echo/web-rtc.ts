import type * as Werift from 'werift';

/** The WebRTC library of the echo agent: a development dependency, so that only its types may be imported. */
export type WebRtc = typeof Werift;

/**
 * Loads the library where it is installed, in development. Never in production: it numbers some of its encrypted records twice, and what
 * it depends on is old.
 * @returns undefined elsewhere, and where development dependencies are not installed
 */
export async function loadWebRtc(mode: 'development' | 'test' | 'production'): Promise<WebRtc | undefined> {
  if (mode !== 'development') return undefined;
  try {
    return await import('werift');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
