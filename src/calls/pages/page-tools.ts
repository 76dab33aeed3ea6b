import type { Tool } from '../../protocol/agent.ts';
import { MAX_CALL_MESSAGE_BYTES, type CallFrame } from '../../protocol/call-frames.ts';
import { SERVER_TOOL } from '../../protocol/server-tool.ts';
import type { ToolCall } from '../../upstream/contract.ts';
import type { ToolAnswers } from '../tools/tool-answers.ts';

/** A `tool` frame of more is not sent: it has room for an answer's longest. */
const MAX_ARGUMENT_BYTES = MAX_CALL_MESSAGE_BYTES - 4096;

interface PageToolsDeps {
  /** All that the agent has. */
  readonly tools: readonly Tool[];
  /** Whether any page hears frames of the call. */
  readonly isHeard: () => boolean;
  /** Pages are asked for these no more. */
  readonly settled: (callIds: readonly string[]) => void;
}

/** The tools that pages of one held call run, asked for and answered over our own sockets. */
export class PageTools {
  readonly #answers: Pick<ToolAnswers, 'answer'>;
  readonly #deps: PageToolsDeps;
  /** Of those that pages run. */
  readonly #names: ReadonlySet<string>;
  /** Calls that pages are asked for. */
  readonly #asked = new Set<string>();

  constructor(answers: Pick<ToolAnswers, 'answer'>, deps: PageToolsDeps) {
    this.#answers = answers;
    this.#deps = deps;
    this.#names = namesOfPages(deps.tools);
  }

  /** @returns what to ask pages; those that they cannot be asked are answered for them */
  ask(calls: readonly ToolCall[]): readonly CallFrame[] {
    return calls.flatMap((call) => this.#ask(call));
  }

  /** @returns false for one that no page is asked for */
  answer(callId: string, output: unknown): boolean {
    if (!this.#asked.delete(callId) || !this.#answers.answer(callId, output)) return false;
    this.#deps.settled([callId]);
    return true;
  }

  /** Another node is to hold the call: what nobody has answered yet is answered for those who run it. */
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

/** What a caller brought along as a tool of the server is nobody's, and fails like one that does not exist. */
function namesOfPages(tools: readonly Tool[]): ReadonlySet<string> {
  const servers = new Set(tools.filter(({ kind }) => kind === SERVER_TOOL).map(({ name }) => name));
  return new Set(tools.map(({ name }) => name).filter((name) => !servers.has(name)));
}
