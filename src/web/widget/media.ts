import { atEnd } from './abort.ts';
import type { MediaEvent } from './api.ts';
import { failure, type SwitchboardError } from './error.ts';

/** An offer that has no answer within this time has none, and a call that does not come about within it from its answer on never will. */
const CONNECT_MS = 20_000;
/** Candidates that take longer to find are not waited for. */
const GATHER_MS = 1000;

/**
 * Watches a call, from its offer until the signal aborts: how its connection fares, and whether one of its ends is gone. A hang-up
 * shows in the transport of its encryption at once, in the state of the connection only seconds later.
 * @param channel whose end is the end of the call, if any
 * @param awayMs a connection that is away for longer is not waited for
 * @param lose `mayReturn`: only the network is gone, nobody has hung up
 */
export function watchMedia(
  peer: RTCPeerConnection,
  channel: EventTarget | undefined,
  microphone: MediaStream,
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
  // Answered: what the server needed for that is not the connection's time.
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
  const transport = peer.getSenders()[0]?.transport ?? null;
  listen(transport, 'statechange', () => transport?.state === 'closed' && over());
  listen(channel, 'close', () => over());
  for (const track of microphone.getTracks()) listen(track, 'ended', () => lose(failure('MICROPHONE_LOST')));
}

/** The offer says by now where the browser is. */
export function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GATHER_MS);
    const look = (): void => void (peer.iceGatheringState === 'complete' && resolve());
    peer.onicegatheringstatechange = look;
    look();
  });
}
