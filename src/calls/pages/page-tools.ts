import type { Tool } from '../../protocol/agent.ts';
import { MAX_CALL_MESSAGE_BYTES, type CallFrame } from '../../protocol/call-frames.ts';
import { SERVER_TOOL } from '../../protocol/server-tool.ts';
import type { ToolCall } from '../../upstream/contract.ts';
import type { ToolAnswers } from '../tools/tool-answers.ts';

/** Arguments longer than this are not sent in a `tool` frame; the rest of the limit is for the frame around them. */
const MAX_ARGUMENT_BYTES = MAX_CALL_MESSAGE_BYTES - 4096;

interface PageToolsDeps {
  /** All tools of the agent. */
  readonly tools: readonly Tool[];
  /** Whether any page receives frames of the call. */
  readonly isHeard: () => boolean;
  /** Pages are no longer asked for these calls. */
  readonly settled: (callIds: readonly string[]) => void;
}

/** The tools that pages run in one held call, asked for and answered over our own sockets. */
export class PageTools {
  readonly #answers: Pick<ToolAnswers, 'answer'>;
  readonly #deps: PageToolsDeps;
  /** Names of the tools that pages run. */
  readonly #names: ReadonlySet<string>;
  /** Tool calls that pages are asked for. */
  readonly #asked = new Set<string>();

  constructor(answers: Pick<ToolAnswers, 'answer'>, deps: PageToolsDeps) {
    this.#answers = answers;
    this.#deps = deps;
    this.#names = namesOfPages(deps.tools);
  }

  /** @returns the frames that ask pages; calls that no page can be asked for are answered here */
  ask(calls: readonly ToolCall[]): readonly CallFrame[] {
    return calls.flatMap((call) => this.#ask(call));
  }

  /** @returns false for a call that no page is asked for */
  answer(callId: string, output: unknown): boolean {
    if (!this.#asked.delete(callId) || !this.#answers.answer(callId, output)) return false;
    this.#deps.settled([callId]);
    return true;
  }

  /** Another node is to hold the call: what is not answered yet is answered `interrupted`. */
  interrupt(): void {
    for (const callId of this.#asked) this.answer(callId, { error: 'interrupted' });
  }

  #ask({ callId: id, name, arguments: args }: ToolCall): readonly CallFrame[] {
    this.#asked.add(id);
    if (!this.#names.has(name)) this.answer(id, { error: 'failed' });
    else if (!this.#deps.isHeard()) this.answer(id, { error: 'unreachable' });
    else if (Buffer.byteLength(args) > MAX_ARGUMENT_BYTES) this.answer(id, { error: 'too_large' });
    else return [{ type: 'tool', id, name, arguments: args }];
    return [];
  }
}

/** A tool that a caller brought along and that has the name of a tool of the server runs nowhere: it fails as if it did not exist. */
function namesOfPages(tools: readonly Tool[]): ReadonlySet<string> {
  const servers = new Set(tools.filter(({ kind }) => kind === SERVER_TOOL).map(({ name }) => name));
  return new Set(tools.map(({ name }) => name).filter((name) => !servers.has(name)));
}
