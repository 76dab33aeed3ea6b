import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import type { AudioCall, Session, SessionEvents } from './api.ts';
import { fit, type RunTool } from './conversation.ts';
import type { Emitter } from './emitter.ts';
import { failure } from './error.ts';
import { makeId } from './id.ts';
import type { Link } from './link.ts';
import type { HeldMicrophone } from './microphone.ts';

interface WordsDeps {
  /** The page has no data channel, so what it does in the call goes over the socket. */
  readonly isLocked: boolean;
  /** The visitor holds a button to speak (push-to-talk). */
  readonly isPush: boolean;
  readonly microphone: Pick<HeldMicrophone, 'talk'>;
  /** The open call; undefined if there is none. */
  readonly call: () => AudioCall | undefined;
  readonly link: () => Link | undefined;
  readonly runTool: RunTool;
  readonly emit: Emitter<SessionEvents>['emit'];
  readonly active: () => void;
}

interface Words extends Pick<Session, 'send' | 'interrupt' | 'talk'> {
  readonly hear: (frame: ServerFrame) => void;
  /** The provider has taken what the visitor said as a turn. With push-to-talk, it answers only when asked to. */
  readonly committed: () => void;
  /** The call has ended. */
  readonly closed: () => void;
}

/** Provider events that stop the agent at once: the first stops its response, the second discards audio that is not yet played. */
const cutOff = [{ type: 'response.cancel' }, { type: 'output_audio_buffer.clear' }];

/** What a page writes in its call and what it hears from it: by provider events, or by frames of the socket if there is no data channel. */
export function createWords({ isLocked, isPush, microphone, call, link, runTool, emit, active }: WordsDeps): Words {
  let isTalking = false;

  const become = (on: boolean): void => microphone.talk((isTalking = on));

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
      // With a data channel, everything else is heard there.
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
      tell({ type: 'interrupt' }, ...cutOff);
    },
    talk(on) {
      if (!isPush || on === isTalking) return;
      // If `tell` throws, the visitor must not be heard, because the provider was not told.
      become(false);
      tell({ type: 'talk', on }, { type: `input_audio_buffer.${on ? 'clear' : 'commit'}` }, ...(on ? cutOff : []));
      become(on);
      if (!isLocked) emit('speech', { who: 'visitor', on });
    },
    committed() {
      if (isPush && !isTalking) call()?.say({ type: 'response.create' });
    },
    closed: () => become(!isPush),
  };
}
