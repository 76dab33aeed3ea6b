import type { MediaEvent } from './api.ts';
import { failure, type SwitchboardError } from './error.ts';

/** A call that does not come about within this time never will. */
const CONNECT_MS = 20_000;
/** A connection that is away for longer is not waited for. */
const AWAY_MS = 10_000;

/**
 * Watches a call, from its offer until the signal aborts: how its connection fares, and whether one of its ends is gone. A hang-up
 * shows in the transport of its encryption at once, in the state of the connection only seconds later.
 */
export function watchMedia(
  peer: RTCPeerConnection,
  microphone: MediaStream,
  signal: AbortSignal,
  tell: (event: MediaEvent) => void,
  lose: (error: SwitchboardError) => void,
): void {
  const over = (): void => lose(failure('CALL_LOST', `the connection is ${peer.connectionState}`));
  let timer = setTimeout(over, CONNECT_MS);
  const listen = (target: EventTarget | null, type: string, heard: () => void): void =>
    target?.addEventListener(type, heard, { signal });

  listen(signal, 'abort', () => clearTimeout(timer));
  listen(peer, 'connectionstatechange', () => {
    const { connectionState: now } = peer;
    if (now === 'failed') return over();
    if (now !== 'connected' && now !== 'disconnected') return;
    clearTimeout(timer);
    if (now === 'disconnected') timer = setTimeout(over, AWAY_MS);
    tell({ state: now === 'connected' ? now : 'reconnecting' });
  });
  const transport = peer.getSenders()[0]?.transport ?? null;
  listen(transport, 'statechange', () => transport?.state === 'closed' && over());
  for (const track of microphone.getTracks())
    listen(track, 'ended', () => lose(failure('MICROPHONE_LOST', 'its track has ended')));
}
