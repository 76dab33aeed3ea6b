import { atEnd } from './abort.ts';
import type { MediaEvent } from './api.ts';
import { failure, type SwitchboardError } from './error.ts';

/** How long an offer may go unanswered, and how long the call may then take to connect. */
const CONNECT_MS = 20_000;
/** How long to wait for ICE candidates. */
const GATHER_MS = 1000;

/**
 * Watches a call from its offer until the signal aborts: reports the state of its connection, and whether either side is gone. A hang-up
 * shows at once in the DTLS transport, but only seconds later in the connection state.
 * @param channel a data channel whose close means the end of the call, if any
 * @param awayMs how long to wait for a connection that is gone
 * @param lose `mayReturn`: only the network is gone, and nobody has hung up
 */
export function watchMedia(
  peer: RTCPeerConnection,
  channel: EventTarget | undefined,
  signal: AbortSignal,
  awayMs: number,
  tell: (event: MediaEvent) => void,
  lose: (error: SwitchboardError, mayReturn?: boolean) => void,
): void {
  const over = (mayReturn?: boolean): void =>
    lose(failure('CALL_LOST', `connection ${peer.connectionState}`), mayReturn);
  let timer = setTimeout(over, CONNECT_MS);
  const listen = (target: EventTarget | null | undefined, type: string, heard: () => void): void =>
    target?.addEventListener(type, heard, { signal });

  atEnd(signal, () => clearTimeout(timer));
  // The offer is answered. The time that the server took must not count against the connection.
  listen(peer, 'signalingstatechange', () => {
    clearTimeout(timer);
    timer = setTimeout(over, CONNECT_MS);
  });
  listen(peer, 'connectionstatechange', () => {
    const { connectionState: now } = peer;
    if (now === 'failed') return over(true);
    if (now !== 'connected' && now !== 'disconnected') return;
    clearTimeout(timer);
    if (now === 'disconnected') timer = setTimeout(over, awayMs, true);
    tell({ state: now === 'connected' ? now : 'reconnecting' });
  });
  const transport = peer.getSenders()[0]?.transport;
  listen(transport, 'statechange', () => transport?.state === 'closed' && over());
  listen(channel, 'close', () => over());
}

/** Resolves once the offer contains the browser's ICE candidates. */
export function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GATHER_MS);
    const look = (): unknown => peer.iceGatheringState === 'complete' && resolve();
    peer.onicegatheringstatechange = look;
    look();
  });
}
