import { keepNewest } from '../../kernel/collections.ts';
import type { CallRequest } from '../../protocol/call-frames.ts';
import type { UpstreamEvent } from '../../upstream/contract.ts';
import type { Conversation } from '../conversation.ts';
import { itemIdOf } from '../item-id.ts';

/** How many ids of what pages said are remembered, so that nothing is said twice. */
const MAX_SAID = 32;

type Refused = 'CALL_NOT_OPEN' | 'INVALID_REQUEST' | 'TOOL_UNKNOWN';

interface ActedCall {
  readonly conversation: Pick<Conversation, 'add' | 'respond' | 'talk' | 'interrupt'>;
  readonly hear: (event: UpstreamEvent) => void;
}

interface PageActionsDeps {
  /** With push to talk, the provider does not detect when somebody starts or stops speaking. */
  readonly isPushToTalk: boolean;
  /** @returns false for a tool call that no page is asked for */
  readonly answer: (callId: string, output: unknown) => boolean;
  /** A page's words were added to the conversation. */
  readonly said: (item: string, text: string) => void;
}

/** What pages do in a held call, with frames of our own sockets (docs/contract.md, section 7.6). */
export class PageActions {
  readonly #call: ActedCall;
  readonly #deps: PageActionsDeps;
  /** Ids of what pages said, as they chose them. */
  readonly #said = new Set<string>();

  constructor(call: ActedCall, deps: PageActionsDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /** Does what a page asks for. @returns why it could not; undefined once it is done */
  take(frame: CallRequest): Refused | undefined {
    if (frame.type === 'say') return this.#say(frame.id, frame.text);
    if (frame.type === 'talk') return this.#talk(frame.on);
    if (frame.type === 'tool_result') return this.#deps.answer(frame.id, frame.output) ? undefined : 'TOOL_UNKNOWN';
    this.#call.hear({ type: 'activity' });
    this.#call.conversation.interrupt();
    return undefined;
  }

  #say(id: string, text: string): Refused | undefined {
    if (this.#said.has(id)) return undefined;
    const { conversation } = this.#call;
    const item = itemIdOf(`say:${id}`);
    if (!conversation.add({ id: item, type: 'message', role: 'user', text })) return 'CALL_NOT_OPEN';
    keepNewest(this.#said.add(id), MAX_SAID);
    // Before the answer, which may come at once.
    this.#deps.said(item, text);
    for (const type of ['activity', 'words'] as const) this.#call.hear({ type });
    conversation.respond(null);
    return undefined;
  }

  #talk(on: boolean): Refused | undefined {
    if (!this.#deps.isPushToTalk) return 'INVALID_REQUEST';
    if (!this.#call.conversation.talk(on)) return 'CALL_NOT_OPEN';
    this.#call.hear({ type: 'activity' });
    if (on) this.#call.hear({ type: 'listening' });
    this.#call.hear({ type: 'speech', who: 'visitor', isOn: on });
    return undefined;
  }
}
