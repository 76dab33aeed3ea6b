import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import { failure, SwitchboardError } from './error.ts';

/** A socket that does not answer for so long is dead: sleep and network changes leave such sockets behind. */
const ANSWER_MS = 10_000;

export type Question = Extract<ClientFrame, { type: 'heartbeat' | 'usage' }> & { readonly id: string };

/** One socket, from its opening to its end. */
export interface Link {
  /** @throws SwitchboardError the server's, or NETWORK_ERROR when the socket ended without an answer */
  readonly ask: (frame: Question) => Promise<ServerFrame>;
  readonly send: (frame: ClientFrame) => void;
  readonly close: () => void;
}

/** Opens a socket and attaches it. `onClosed` is called once: with the close code, or 0 when it was given up here. */
export function openLink(
  socket: WebSocket,
  attach: ClientFrame,
  onFrame: (frame: ServerFrame) => void,
  onClosed: (code: number) => void,
): Link {
  /** What is asked, by its id: settles with the answer. */
  const waiting = new Map<string, (answer: ServerFrame | SwitchboardError) => void>();
  let isClosed = false;
  const timer = setTimeout(() => closed(0), ANSWER_MS);

  function closed(code: number): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(timer);
    socket.close();
    for (const settle of waiting.values()) settle(failure('NETWORK_ERROR', `socket closed ${code}`));
    onClosed(code);
  }

  const send = (frame: ClientFrame): void => socket.send(JSON.stringify(frame));

  socket.addEventListener('open', () => send(attach));
  socket.addEventListener('close', ({ code }) => closed(code));
  socket.addEventListener('message', ({ data }) => {
    if (isClosed) return;
    clearTimeout(timer);
    const frame = JSON.parse(data as string) as ServerFrame;
    if (frame.type === 'error' && waiting.size > 0) {
      // A refusal without an id is about one of those that wait: all may ask again, nothing is counted twice.
      const asked = [...waiting].filter(([id]) => (frame.id ?? id) === id);
      for (const [, settle] of asked) settle(new SwitchboardError(frame));
      if (asked.length > 0) return;
    }
    if ('id' in frame) waiting.get(frame.id as string)?.(frame);
    onFrame(frame);
  });

  return {
    async ask(frame) {
      const late = setTimeout(() => closed(0), ANSWER_MS);
      try {
        const answer = await new Promise<ServerFrame | SwitchboardError>((settle) => {
          waiting.set(frame.id, settle);
          send(frame);
        });
        if (answer instanceof SwitchboardError) throw answer;
        return answer;
      } finally {
        clearTimeout(late);
        waiting.delete(frame.id);
      }
    },
    send,
    close: () => closed(0),
  };
}
