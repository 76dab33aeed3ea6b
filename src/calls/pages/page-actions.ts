import { keepNewest } from '../../kernel/collections.ts';
import type { Tool } from '../../protocol/agent.ts';
import { MAX_CALL_MESSAGE_BYTES, type CallRequest, type CallFrame } from '../../protocol/call-frames.ts';
import { SERVER_TOOL } from '../../protocol/server-tool.ts';
import type { UpstreamEvent, ToolCall } from '../../upstream/contract.ts';
import { itemIdOf, type Conversation } from '../conversation.ts';
import type { ToolAnswers } from '../tools/tool-answers.ts';

/** How many ids of what pages said are remembered, so that nothing is said twice. */
const MAX_SAID = 32;
/** Arguments longer than this are not sent in a `tool` frame; the rest of the limit is for the frame around them. */
const MAX_ARGUMENT_BYTES = MAX_CALL_MESSAGE_BYTES - 4096;

type Refused = 'CALL_NOT_OPEN' | 'INVALID_REQUEST' | 'TOOL_UNKNOWN';

interface ActedCall {
  readonly conversation: Pick<Conversation, 'add' | 'respond' | 'talk' | 'interrupt'>;
  readonly hear: (event: UpstreamEvent) => void;
}

interface PageActionsDeps {
  /** With push to talk, the provider does not detect when somebody starts or stops speaking. */
  readonly isPushToTalk: boolean;
  /** All tools of the agent. */
  readonly tools: readonly Tool[];
  /** Whether any page receives frames of the call. */
  readonly isHeard: () => boolean;
  /** Pages are no longer asked for these tool calls. */
  readonly settled: (callIds: readonly string[]) => void;
  /** A page's words were added to the conversation. */
  readonly said: (item: string, text: string) => void;
}

/** What pages do in a held call, with frames of our own sockets (docs/contract.md, section 7.6), and the tools that they run for its agent. */
export class PageActions {
  readonly #call: ActedCall;
  readonly #answers: Pick<ToolAnswers, 'answer'>;
  readonly #deps: PageActionsDeps;
  /** Names of the tools that pages run. */
  readonly #tools: ReadonlySet<string>;
  /** Tool calls that pages are asked for. */
  readonly #asked = new Set<string>();
  /** Ids of what pages said, as they chose them. */
  readonly #said = new Set<string>();

  constructor(call: ActedCall, answers: Pick<ToolAnswers, 'answer'>, deps: PageActionsDeps) {
    this.#call = call;
    this.#answers = answers;
    this.#deps = deps;
    this.#tools = toolsOfPages(deps.tools);
  }

  /** Does what a page asks for. @returns why it could not; undefined once it is done */
  take(frame: CallRequest): Refused | undefined {
    if (frame.type === 'say') return this.#say(frame.id, frame.text);
    if (frame.type === 'talk') return this.#talk(frame.on);
    if (frame.type === 'tool_result') return this.answerTool(frame.id, frame.output) ? undefined : 'TOOL_UNKNOWN';
    this.#call.hear({ type: 'activity' });
    this.#call.conversation.interrupt();
    return undefined;
  }

  /** @returns the frames that ask pages to run tools; calls that no page can be asked for are answered here */
  askTools(calls: readonly ToolCall[]): readonly CallFrame[] {
    return calls.flatMap((call) => this.#askTool(call));
  }

  /** @returns false for a tool call that no page is asked for */
  answerTool(callId: string, output: unknown): boolean {
    if (!this.#asked.delete(callId) || !this.#answers.answer(callId, output)) return false;
    this.#deps.settled([callId]);
    return true;
  }

  /** Another node is to hold the call: tool calls that are not answered yet are answered `interrupted`. */
  interruptTools(): void {
    for (const callId of this.#asked) this.answerTool(callId, { error: 'interrupted' });
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

  #askTool({ callId: id, name, arguments: args }: ToolCall): readonly CallFrame[] {
    this.#asked.add(id);
    if (!this.#tools.has(name)) this.answerTool(id, { error: 'failed' });
    else if (!this.#deps.isHeard()) this.answerTool(id, { error: 'unreachable' });
    else if (Buffer.byteLength(args) > MAX_ARGUMENT_BYTES) this.answerTool(id, { error: 'too_large' });
    else return [{ type: 'tool', id, name, arguments: args }];
    return [];
  }
}

/** A tool that a caller brought along and that has the name of a tool of the server runs nowhere: it fails as if it did not exist. */
function toolsOfPages(tools: readonly Tool[]): ReadonlySet<string> {
  const servers = new Set(tools.filter(({ kind }) => kind === SERVER_TOOL).map(({ name }) => name));
  return new Set(tools.map(({ name }) => name).filter((name) => !servers.has(name)));
}
