import type { CallEvent } from '../../machines/voice-call/types.ts';

const HEARD: ReadonlySet<CallEvent['type']> = new Set(['READY', 'SIDEBAND_LOST', 'OVER', 'HEARD']);

/**
 * Whether only the node that holds a call may say so: what it hears there, and what it concludes from hearing nothing. One that stood
 * still knows neither of a call that another took meanwhile. That its session ended anybody may say.
 */
export function isOwnerOnly(event: CallEvent): boolean {
  if (event.type === 'CLOSE') return event.reason === 'unheard' || event.reason === 'tampered';
  return HEARD.has(event.type);
}
