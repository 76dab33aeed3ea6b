import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import { failure, SwitchboardError } from './error.ts';

/** A socket that does not answer for so long is dead: sleep and network changes leave such sockets behind. */
const ANSWER_MS = 10_000;

export type Question = Extract<ClientFrame, { type: 'heartbeat' | 'usage' }> & { readonly id: string };

/** One socket, from its opening to its end. */
export interface Link {
  readonly isAttached: () => boolean;
  /** @throws SwitchboardError the server's, or NETWORK_ERROR when the socket ended without an answer */
  readonly ask: (frame: Question) => Promise<ServerFrame>;
  readonly send: (frame: ClientFrame) => void;
  readonly close: () => void;
}

interface Waiting {
  readonly resolve: (frame: ServerFrame) => void;
  readonly reject: (error: SwitchboardError) => void;
}

/** Opens a socket and attaches it. `onClosed` is called once: with the close code, or 0 when it was given up here. */
export function openLink(
  socket: WebSocket,
  attach: ClientFrame,
  onFrame: (frame: ServerFrame) => void,
  onClosed: (code: number) => void,
): Link {
  const waiting = new Map<string, Waiting>();
  let isAttached = false;
  let isClosed = false;
  const timer = setTimeout(() => closed(0), ANSWER_MS);

  function closed(code: number): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    socket.close();
    for (const { reject } of waiting.values()) reject(failure('NETWORK_ERROR', `socket closed ${code}`));
    onClosed(code);
  }

  const send = (frame: ClientFrame): void => socket.send(JSON.stringify(frame));

  socket.addEventListener('open', () => send(attach));
  socket.addEventListener('close', ({ code }) => closed(code));
  socket.addEventListener('message', ({ data }) => {
    if (isClosed) return;
    const frame = JSON.parse(data as string) as ServerFrame;
    if (frame.type === 'attached') {
      isAttached = true;
      clearTimeout(timer);
    }
    if (frame.type === 'error' && waiting.size > 0) {
      // A refusal without an id is about one of those that wait: all may ask again, nothing is counted twice.
      for (const [id, { reject }] of waiting) if ((frame.id ?? id) === id) reject(new SwitchboardError(frame));
      return;
    }
    if ('id' in frame) waiting.get(frame.id as string)?.resolve(frame);
    onFrame(frame);
  });

  return {
    isAttached: () => isAttached && socket.readyState === 1,
    async ask(frame) {
      const late = setTimeout(() => closed(0), ANSWER_MS);
      try {
        return await new Promise<ServerFrame>((resolve, reject) => {
          waiting.set(frame.id, { resolve, reject });
          send(frame);
        });
      } finally {
        clearTimeout(late);
        waiting.delete(frame.id);
      }
    },
    send,
    close: () => closed(0),
  };
}
