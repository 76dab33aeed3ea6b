import { keepNewest } from '../../kernel/keep-newest.ts';
import { toolOutputText } from '../../protocol/call-frames.ts';
import type { Conversation } from '../conversation.ts';
import { noTools, overdueTools, withAnswered, withAsked, type AskedTool } from './pending-tools.ts';

/** Calls of tools whose answers are remembered, more than a session may have of those of the server. */
const MAX_ANSWERED = 256;

interface Output {
  readonly callId: string;
  readonly output: string;
  /** With it all that its response asked for is answered. */
  readonly isLast: boolean;
}

/**
 * What the agent of one held call is answered for the tools that it asks for, whoever runs them: each once, and once all of a response are
 * answered the agent goes on.
 */
export class ToolAnswers {
  readonly #conversation: Pick<Conversation, 'add' | 'respond'>;
  readonly #itemOf: (callId: string) => string;
  #tools = noTools;
  readonly #answered = new Set<string>();
  /** Answers that the provider was not told yet. */
  readonly #outputs: Output[] = [];

  /** @param itemOf names the item that answers a call */
  constructor(conversation: Pick<Conversation, 'add' | 'respond'>, itemOf: (callId: string) => string) {
    this.#conversation = conversation;
    this.#itemOf = itemOf;
  }

  /** A response asks for tools. @returns those that were not asked for before */
  ask(responseId: string, asked: readonly AskedTool[]): readonly string[] {
    const unanswered = asked.filter(({ callId }) => !this.#answered.has(callId));
    const [tools, fresh] = withAsked(this.#tools, responseId, unanswered);
    this.#tools = tools;
    return fresh;
  }

  /** @returns false for one that nobody waits for */
  answer(callId: string, output: unknown): boolean {
    const [tools, { isKnown, isLast }] = withAnswered(this.#tools, callId);
    if (!isKnown) return false;
    this.#tools = tools;
    this.#add(callId, output, isLast);
    return true;
  }

  /** Answers what another node asked for that held the call before, and did not live to see answered. @returns those that are answered by it */
  interrupt(callIds: readonly string[]): readonly string[] {
    const lost = callIds.filter((callId) => !this.#answered.has(callId) && !this.#isPending(callId));
    for (const callId of lost) this.#add(callId, { error: 'interrupted' }, callId === lost.at(-1));
    return lost;
  }

  /** Somebody else answers it, or has done so. */
  forget(callId: string): void {
    [this.#tools] = withAnswered(this.#tools, callId);
  }

  overdue(at: number): readonly string[] {
    return overdueTools(this.#tools, at);
  }

  /** Tells the provider what it was not told yet: call it now and then, because nobody can while the call is not heard. */
  tell(): void {
    for (let next = this.#outputs[0]; next !== undefined; next = this.#outputs[0]) {
      const { callId, output, isLast } = next;
      if (!this.#conversation.add({ id: this.#itemOf(callId), type: 'tool_output', callId, output })) return;
      this.#outputs.shift();
      if (isLast) this.#conversation.respond(null);
    }
  }

  #isPending(callId: string): boolean {
    return this.#tools.pending.some((tool) => tool.callId === callId);
  }

  #add(callId: string, output: unknown, isLast: boolean): void {
    keepNewest(this.#answered.add(callId), MAX_ANSWERED);
    this.#outputs.push({ callId, output: toolOutputText(output), isLast });
    this.tell();
  }
}
