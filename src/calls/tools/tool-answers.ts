import { keepNewest } from '../../kernel/collections.ts';
import { toolOutputText } from '../../protocol/call-frames.ts';
import type { Conversation } from '../conversation.ts';

/** Tool calls whose answers are remembered, more than a session may have for tools of the server. */
const MAX_ANSWERED = 256;

/** A tool call that somebody is asked for. */
export interface AskedTool {
  /** The provider's name of the tool call. */
  readonly callId: string;
  /** From then on it is overdue; Infinity where it is certain to be answered. */
  readonly untilMs: number;
}

interface PendingTool extends AskedTool {
  /** The response that asks for it: the agent goes on once all tool calls of a response are answered. */
  readonly responseId: string;
}

/** The tool calls that the agent of one call waits for. */
export type PendingTools = readonly PendingTool[];

interface AnswerTerms {
  /** Called once the provider is told. */
  readonly told: () => void;
  /** The tool wants the session to end. */
  readonly endsSession: boolean;
}

interface Output extends AnswerTerms {
  readonly callId: string;
  readonly output: string;
  /** It is the last answer that its response waits for. */
  readonly isLast: boolean;
  /** It was told before, on a sideband that was lost. */
  readonly isAgain: boolean;
}

type ToldConversation = Pick<Conversation, 'add' | 'respond' | 'lastWords' | 'answerTaken'>;

const nothing = (): void => undefined;

const INTERRUPTED = toolOutputText({ error: 'interrupted' });

/**
 * Answers the tool calls of one held call's agent, whoever runs the tools: each once, and once all calls of a response are answered the agent goes
 * on. Where a page answers some of a response itself, over its data channel, the side whose answer the conversation took last has the agent go on:
 * both sides see the same order.
 */
export class ToolAnswers {
  readonly #conversation: ToldConversation;
  readonly #itemOf: (callId: string) => string;
  #pending: PendingTools = [];
  readonly #answered = new Set<string>();
  /** Calls that the page answers, in responses of which others are answered here. */
  readonly #pages = new Set<string>();
  /** Calls that are answered here, in responses of which the page answers others. */
  readonly #shared = new Set<string>();
  /** Calls that the page answered before we heard that the response asking for them is done. */
  readonly #early = new Set<string>();
  /** Calls that the previous owner was asked for, and that we answered; the conversation has not taken our answers, at least not yet. */
  readonly #interrupted = new Set<string>();
  /** Answers that the provider was not told yet. */
  #outputs: Output[] = [];
  /** Answers that the provider was told, but has not confirmed to be in the conversation. */
  #unheard: Output[] = [];
  /** One of the answers that the provider was told ends the session, once the agent has responded to it. */
  #endsSession = false;

  /** @param itemOf gives the name of the item that answers a tool call */
  constructor(conversation: ToldConversation, itemOf: (callId: string) => string) {
    this.#conversation = conversation;
    this.#itemOf = itemOf;
  }

  /**
   * A response asks for tools.
   * @param pages the calls that the page answers over its data channel
   * @returns the calls that were not asked for before
   */
  ask(responseId: string, asked: readonly AskedTool[], pages: readonly AskedTool[] = []): readonly string[] {
    const unanswered = asked.filter(({ callId }) => !this.#answered.has(callId));
    const awaited = unanswered.length === 0 ? [] : pages.filter(({ callId }) => !this.#early.has(callId));
    const [pending, fresh] = withAsked(this.#pending, responseId, [...unanswered, ...awaited]);
    this.#pending = pending;
    for (const { callId } of awaited) this.#pages.add(callId);
    if (awaited.length > 0) for (const { callId } of unanswered) this.#shared.add(callId);
    return fresh;
  }

  /**
   * @param told called once the provider is told
   * @param endsSession whether the session ends once the agent has responded to the answer
   * @returns false for a call that nobody waits for
   */
  answer(callId: string, output: unknown, { told = nothing, endsSession = false }: Partial<AnswerTerms> = {}): boolean {
    if (!this.#isPending(callId) || this.#pages.has(callId) || this.#answered.has(callId)) return false;
    // For a shared response, the conversation shows whose answer was last.
    const isLast = !this.#shared.has(callId) && this.#settle(callId);
    this.#add({ callId, output: toolOutputText(output), isLast, isAgain: false, told, endsSession });
    return true;
  }

  /** The conversation holds an answer, whoever gave it. */
  heard({ item, callId }: { readonly item: string; readonly callId: string }): void {
    const told = this.#unheard.find((each) => each.callId === callId);
    if (told !== undefined && item === this.#itemOf(callId)) {
      this.#unheard = this.#unheard.filter((each) => each !== told);
      if (told.isAgain && told.isLast) this.#conversation.answerTaken();
    }
    if (item === this.#itemOf(callId) && this.#interrupted.has(callId)) this.#goOnAfterInterrupted();
    if (this.#pages.has(callId)) {
      if (this.#settle(callId)) this.#noteAllAnswered();
    } else if (this.#shared.has(callId)) {
      if (item === this.#itemOf(callId) && this.#settle(callId)) this.#goOn();
    } else if (!this.#answered.has(callId)) keepNewest(this.#early.add(callId), MAX_ANSWERED);
  }

  /** The page did not answer in time. */
  giveUp(callId: string): void {
    if (this.#pages.has(callId) && this.#settle(callId)) this.#goOn();
  }

  /** Another node is to hold the call, and will not know what pages answer. */
  giveUpPages(): void {
    for (const callId of [...this.#shared].filter((each) => this.#answered.has(each))) this.#settle(callId);
    for (const callId of this.#pages) this.giveUp(callId);
  }

  /**
   * Answers what the previous owner of the call was asked for and died before answering. The agent goes on once the conversation takes one of these
   * answers. It takes none where that node had answered, and died before it saved that.
   * @param told called with each once the provider is told
   * @returns the calls that are answered by it
   */
  interrupt(callIds: readonly string[], told: (callId: string) => void = nothing): readonly string[] {
    const lost = this.#unknownHere(callIds);
    for (const callId of lost) this.#interrupted.add(callId);
    const terms = { output: INTERRUPTED, isLast: false, isAgain: false, endsSession: false };
    for (const callId of lost) this.#add({ ...terms, callId, told: () => told(callId) });
    return lost;
  }

  /**
   * Answers calls of the previous owner that end the session, where the provider was told nothing about them. Nobody knows how far the agent's last
   * words were: it says some more, whichever node answered.
   */
  interruptEnds(callIds: readonly string[]): void {
    const lost = this.#unknownHere(callIds);
    const terms = { output: INTERRUPTED, isAgain: false, told: nothing, endsSession: true };
    for (const callId of lost) this.#add({ ...terms, callId, isLast: callId === lost.at(-1) });
  }

  /** Somebody else answers it, or already has. */
  forget(callId: string): void {
    this.#settle(callId);
  }

  overdue(at: number): readonly string[] {
    return overdueTools(this.#pending, at);
  }

  /**
   * The call is heard on another sideband. What the provider was told on the one before, and has not confirmed, is told again: it takes no second
   * item of the same name.
   */
  tellAgain(): void {
    this.#outputs = [...this.#unheard.map((each) => ({ ...each, isAgain: true })), ...this.#outputs];
    this.#unheard = [];
    this.tell();
  }

  /** Tells the provider what it was not told yet: call it now and then, because nothing can be told while the call is not heard. */
  tell(): void {
    for (let next = this.#outputs[0]; next !== undefined; next = this.#outputs[0]) {
      const { callId, output, isLast, isAgain, told, endsSession } = next;
      if (!this.#conversation.add({ id: this.#itemOf(callId), type: 'tool_output', callId, output })) return;
      this.#outputs.shift();
      this.#unheard = [...this.#unheard.slice(1 - MAX_ANSWERED), next];
      if (isAgain) continue;
      this.#endsSession ||= endsSession;
      told();
      if (isLast) this.#goOn();
    }
  }

  /** Everything that a response asked for is answered: the agent goes on. */
  #goOn(): void {
    this.#noteAllAnswered();
    this.#conversation.respond(null);
  }

  /** If a tool has asked for the end, the agent's next words are its last, whichever side has it go on. */
  #noteAllAnswered(): void {
    if (this.#endsSession) this.#conversation.lastWords();
  }

  /** Marks a call as answered. @returns whether it was the last one of its response */
  #settle(callId: string): boolean {
    const [pending, isLast] = withAnswered(this.#pending, callId);
    this.#pending = pending;
    this.#pages.delete(callId);
    this.#shared.delete(callId);
    return isLast;
  }

  /** Goes on once for all answers that the provider was told by now: it takes them in order, and the response after them. */
  #goOnAfterInterrupted(): void {
    const untold = new Set(this.#outputs.map(({ callId }) => callId));
    for (const callId of this.#interrupted) if (!untold.has(callId)) this.#interrupted.delete(callId);
    this.#goOn();
  }

  #unknownHere(callIds: readonly string[]): readonly string[] {
    return callIds.filter((callId) => !this.#answered.has(callId) && !this.#isPending(callId));
  }

  #isPending(callId: string): boolean {
    return this.#pending.some((tool) => tool.callId === callId);
  }

  #add(answer: Output): void {
    keepNewest(this.#answered.add(answer.callId), MAX_ANSWERED);
    this.#outputs.push(answer);
    this.tell();
  }
}

/** Adds the tool calls of a response; one that is pending already is not added again. @returns also the ids of the new ones */
export function withAsked(
  pending: PendingTools,
  responseId: string,
  asked: readonly AskedTool[],
): [PendingTools, readonly string[]] {
  const known = new Set(pending.map(({ callId }) => callId));
  const fresh = [...new Map(asked.map((tool) => [tool.callId, tool])).values()].filter(
    ({ callId }) => !known.has(callId),
  );
  const more = fresh.map((tool) => ({ ...tool, responseId }));
  return [[...pending, ...more], fresh.map(({ callId }) => callId)];
}

/** Removes an answered tool call; one that is not pending changes nothing. @returns also whether it was the last of its response */
export function withAnswered(pending: PendingTools, callId: string): [PendingTools, boolean] {
  const answered = pending.find((tool) => tool.callId === callId);
  if (answered === undefined) return [pending, false];
  const left = pending.filter((tool) => tool !== answered);
  return [left, !left.some(({ responseId }) => responseId === answered.responseId)];
}

/** The tool calls that were not answered in time. */
export function overdueTools(pending: PendingTools, at: number): readonly string[] {
  return pending.filter(({ untilMs }) => untilMs <= at).map(({ callId }) => callId);
}
