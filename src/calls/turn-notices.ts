import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { HeldCallDeps } from './call-parts.ts';

const WINDOW_MS = 1000;
/** Nobody could see more changes in a second. */
const MAX_NOTICES = 4;

/**
 * Tells the clients of a call who speaks (docs/contract.md, section 7.3): only changes, and at most four a second. A change that is left out is told
 * when the provider reports it again.
 */
export function createTurnNotices(
  { id: callId, sessionId }: Pick<CallRecord, 'id' | 'sessionId'>,
  { bus, clock }: Pick<HeldCallDeps, 'bus' | 'clock'>,
): (event: 'speaking' | 'listening') => void {
  let last: string | undefined;
  let windowFromMs = -Infinity;
  let told = 0;

  return (event) => {
    if (event === last) return;
    const at = clock.now();
    if (at - windowFromMs >= WINDOW_MS) {
      windowFromMs = at;
      told = 0;
    }
    if (told === MAX_NOTICES) return;
    told += 1;
    last = event;
    bus.publish({ type: 'call.told', sessionId, callId, event });
  };
}
