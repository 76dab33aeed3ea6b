import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import { failure, SwitchboardError } from './error.ts';

/** A socket that does not answer within this time is dead: computers that sleep and changes of the network leave such sockets behind. */
const ANSWER_MS = 10_000;

export type Question = Extract<ClientFrame, { type: 'heartbeat' | 'usage' }> & { readonly id: string };

/** One socket, from when it is opened until it ends. */
export interface Link {
  /** @throws SwitchboardError the server's, or NETWORK_ERROR if the socket ended before the answer */
  readonly ask: (frame: Question) => Promise<ServerFrame>;
  readonly send: (frame: ClientFrame) => void;
  readonly close: () => void;
}

/** Opens a socket and attaches it. `onClosed` is called once, with the close code, or 0 if it was closed from this side. */
export function openLink(
  socket: WebSocket,
  attach: ClientFrame,
  onFrame: (frame: ServerFrame) => void,
  onClosed: (code: number) => void,
): Link {
  /** Unanswered questions by id, each with the functions that settle it. */
  const waiting = new Map<
    string,
    [resolve: (answer: ServerFrame) => void, reject: (error: SwitchboardError) => void]
  >();
  let isClosed = false;
  const timer = setTimeout(() => closed(0), ANSWER_MS);

  function closed(code: number): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    socket.close();
    for (const [, reject] of waiting.values()) reject(failure('NETWORK_ERROR', `closed ${code}`));
    onClosed(code);
  }

  const send = (frame: ClientFrame): void => socket.send(JSON.stringify(frame));

  socket.addEventListener('open', () => send(attach));
  socket.addEventListener('close', ({ code }) => closed(code));
  socket.addEventListener('message', ({ data }) => {
    if (isClosed) return;
    clearTimeout(timer);
    const frame = JSON.parse(data as string) as ServerFrame;
    let isAsked = false;
    for (const [id, [resolve, reject]] of waiting) {
      if (frame.type !== 'error') {
        if ((frame as { readonly id?: unknown }).id === id) resolve(frame);
        // An error without an id is about one of the questions. All of them fail: they can be asked again, and nothing is counted twice.
      } else if ((frame.id ?? id) === id) {
        isAsked = true;
        reject(new SwitchboardError(frame));
      }
    }
    if (!isAsked) onFrame(frame);
  });

  return {
    async ask(frame) {
      const late = setTimeout(() => closed(0), ANSWER_MS);
      try {
        return await new Promise<ServerFrame>((...settle) => {
          waiting.set(frame.id, settle);
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
