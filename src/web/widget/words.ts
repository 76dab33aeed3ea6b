import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import type { AudioCall, Session, SessionEvents } from './api.ts';
import { fit, type RunTool } from './conversation.ts';
import type { Emitter } from './emitter.ts';
import { failure } from './error.ts';
import { makeId } from './id.ts';
import type { Link } from './link.ts';

interface WordsDeps {
  /** What a page does by its data channel elsewhere goes over the socket then. */
  readonly isLocked: boolean;
  /** Undefined where there is none. */
  readonly call: () => AudioCall | undefined;
  readonly link: () => Link | undefined;
  readonly runTool: RunTool;
  readonly emit: Emitter<SessionEvents>['emit'];
  readonly active: () => void;
}

/** What a page writes in its call and hears of it: by the provider's own events, or where it has no data channel by frames of the socket. */
export function createWords({
  isLocked,
  call,
  link,
  runTool,
  emit,
  active,
}: WordsDeps): Pick<Session, 'send' | 'interrupt'> & { readonly hear: (frame: ServerFrame) => void } {
  function tell(frame: ClientFrame, ...events: object[]): void {
    const present = call();
    if (!present) throw failure('CALL_LOST');
    if (isLocked) {
      const open = link();
      if (!open) throw failure('NETWORK_ERROR');
      open.send(frame);
    } else present.say(...events);
    active();
  }

  async function answer({ id, name, arguments: json }: SessionEvents['tool']): Promise<void> {
    const output = await runTool(id, name, json);
    if (output !== undefined) link()?.send({ type: 'tool_result', id, output: fit(output) });
  }

  return {
    hear(frame) {
      if (frame.type === 'thinking') emit('thinking', { on: frame.on, tool: frame.tool });
      // Where there is a data channel all else is heard there.
      if (!isLocked) return;
      if (frame.type === 'speech' || frame.type === 'transcript') {
        active();
        emit(frame.type, frame as never);
      }
      if (frame.type === 'tool') void answer(frame);
    },
    send(text) {
      const id = makeId();
      const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
      tell({ type: 'say', id, text }, { type: 'conversation.item.create', item }, { type: 'response.create' });
      if (!isLocked) emit('transcript', { id, who: 'visitor', text, final: true });
    },
    interrupt() {
      tell({ type: 'interrupt' }, { type: 'response.cancel' }, { type: 'output_audio_buffer.clear' });
    },
  };
}
