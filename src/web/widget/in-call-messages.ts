import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import type { AudioCall, Ended, Session, SessionEvents } from './api.ts';
import { fit, type RunTool } from './conversation.ts';
import type { Emitter } from './emitter.ts';
import { failure, SwitchboardError } from './error.ts';
import { makeId } from './http.ts';
import type { Link } from './socket.ts';
import type { HeldMicrophone } from './microphone.ts';

type Say = Extract<ClientFrame, { type: 'say' }>;

interface InCallMessages extends Pick<Session, 'send' | 'interrupt' | 'talk'> {
  readonly hear: (frame: ServerFrame) => void;
  /** The provider has taken what the visitor said as a turn. With push-to-talk, it answers only when asked to. */
  readonly committed: () => void;
  /** The call has ended. With `why` the session is over, and the page is given back what may not have been said. */
  readonly closed: (why?: Ended) => void;
}

/** Provider events that stop the agent at once: the first stops its response, the second discards audio that is not yet played. */
const cutOff = [{ type: 'response.cancel' }, { type: 'output_audio_buffer.clear' }];

/**
 * What a page writes in its call and what it hears from it: by provider events, or by frames of the socket if there is no data channel.
 * @param isLocked the page has no data channel, so what it does in the call goes over the socket
 * @param isPush the visitor holds a button to speak (push-to-talk)
 * @param call the open call; undefined if there is none
 * @param probe finds out soon whether the socket is still alive
 */
export function createInCallMessages(
  isLocked: boolean,
  isPush: boolean,
  microphone: Pick<HeldMicrophone, 'talk'>,
  call: () => AudioCall | undefined,
  link: () => Link | undefined,
  runTool: RunTool,
  emit: Emitter<SessionEvents>['emit'],
  active: () => void,
  probe: () => void,
): InCallMessages {
  let isTalking = false;
  /** Texts that were sent over a socket and are neither heard in the call nor refused, by their ids. */
  const unheard = new Map<unknown, Say>();

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
      if (frame.type === 'thinking') emit('thinking', frame);
      if (frame.type === 'error') {
        emit('error', new SwitchboardError({ ...frame, text: unheard.get(frame.id)?.text }));
        unheard.delete(frame.id);
      }
      // With a data channel, everything else is heard there.
      if (!isLocked) return;
      if (frame.type === 'speech' || frame.type === 'transcript') {
        active();
        emit(frame.type, frame as never);
        const { who, final, text: shown } = frame as SessionEvents['transcript'];
        // A long text is shown without its beginning. Of equal texts, the first is shown first.
        if (who === 'visitor' && final && shown)
          [...unheard.values()].find(({ id, text }) => text.endsWith(shown) && unheard.delete(id));
      }
      // Also told to a socket that comes later: the one before may have died with a text in it. A call says a text once.
      if ('state' in frame && frame.state === 'open') unheard.forEach((say) => link()?.send(say));
      if (frame.type === 'tool') void answer(frame);
    },
    send(text) {
      const id = makeId();
      const say: Say = { type: 'say', id, text };
      const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
      tell(say, { type: 'conversation.item.create', item }, { type: 'response.create' });
      if (!isLocked) return emit('transcript', { id, who: 'visitor', text, final: true });
      unheard.set(id, say);
      probe();
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
    closed(why) {
      become(!isPush);
      if (why) unheard.forEach(({ text }) => emit('error', new SwitchboardError({ ...why, text })));
    },
  };
}
