import type { CallRecord, CloseRequest } from '../../../machines/voice-call/types.ts';
import type { CallFrame } from '../../protocol/call-frames.ts';
import { serverToolsOf } from '../../protocol/server-tool.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import type { ToolCall, UpstreamEvent } from '../../upstream/contract.ts';
import { isOwnItem, itemIdOf, secretItemIdOf, type Conversation } from '../conversation.ts';
import type { HeldCallDeps } from '../deps.ts';
import type { WordsEvent } from '../provider-events.ts';
import { ForgedAnswers } from '../tools/forged-answers.ts';
import { ToolAnswers } from '../tools/tool-answers.ts';
import { ToolRunner } from '../tools/tool-runner.ts';
import { Captions } from './captions.ts';
import { ContextCarryover } from './context-carryover.ts';
import { PageActions } from './page-actions.ts';

/** How long a node's message that its sockets want to hear of the call stays valid. */
const WANTED_MS = 30_000;
/** How long a page may take to answer a tool. */
const ANSWER_MS = 30_000;

/** The call, as far as its pages see it and act in it. */
interface PagesCall {
  readonly record: CallRecord;
  readonly conversation: Conversation;
  readonly hear: (event: UpstreamEvent) => void;
  readonly charge: (toolCallId: string, microDollars: number) => void;
  readonly close: (reason: CloseRequest) => Promise<void>;
}

type Setup = Pick<
  SessionSetup,
  'tools' | 'dataChannel' | 'metadata' | 'behaviour' | 'agentVersion' | 'sealedContext' | 'trace'
>;

/**
 * What the pages of one held call see of it, in frames of our own sockets on any node (docs/contract.md, section 7.6). Where no socket wants them,
 * nothing is gathered and nothing is sent. What pages do in the call is in `actions`.
 */
export class CallPages {
  readonly #call: PagesCall;
  readonly #setup: Setup | undefined;
  readonly #deps: HeldCallDeps;
  readonly #captions: Captions;
  /** What was said in the session, before this call and in it. */
  readonly carryover: ContextCarryover;
  /** Until when each node's sockets want to hear of the call. */
  readonly #wanted = new Map<string, number>();
  readonly #answers: ToolAnswers;
  readonly actions: PageActions;
  /** Undefined for a session without tools of the server. */
  readonly #server: ToolRunner | undefined;
  /** Undefined where no page can forge answers. */
  readonly #forged: ForgedAnswers | undefined;
  #state: CallRecord['state'] | undefined;
  #isReleased = false;
  /** The call is now heard on another sideband than before. */
  readonly attached = (): void => this.#answers.tellAgain();

  /** @param setup undefined where it is no longer kept: then pages are asked for no tools */
  constructor(call: PagesCall, setup: Setup | undefined, deps: HeldCallDeps) {
    this.#call = call;
    this.#setup = setup;
    this.#deps = deps;
    this.carryover = new ContextCarryover(call, deps);
    this.#captions = new Captions({ ...deps, show: (frames) => this.#showWords(frames) });
    const isOpen = setup?.dataChannel !== 'none';
    const { id } = call.record;
    const itemOf = (callId: string): string =>
      isOpen ? secretItemIdOf(`${id} ${callId}`, deps.installationKey) : itemIdOf(callId);
    this.#answers = new ToolAnswers(call.conversation, itemOf);
    this.actions = new PageActions(call, this.#answers, {
      isPushToTalk: setup?.behaviour?.turns?.detect === 'push',
      tools: setup?.tools ?? [],
      isHeard: () => this.#isWanted,
      settled: (callIds) => this.#show([], callIds),
      said: (item, text) => this.#showSaid(item, text),
    });
    const tools = serverToolsOf(setup?.tools ?? []);
    if (setup === undefined || tools.size === 0) return;
    const listener = {
      asked: (callIds: readonly string[]) => callIds.forEach((callId) => this.#forged?.watch(callId)),
      running: (tool: string | undefined) => this.#think(tool),
    };
    this.#server = new ToolRunner(call, { ...setup, tools }, this.#answers, listener, deps);
    if (!isOpen) return;
    this.#forged = new ForgedAnswers({
      itemOf,
      remove: (item) => call.conversation.remove(item),
      note: () => deps.events.toolForged(id),
      close: () => void call.close('tool_forged'),
    });
  }

  get callId(): string {
    return this.#call.record.id;
  }

  /** Whether pages and operators can act in the call. */
  get isOpen(): boolean {
    return this.#call.record.state === 'open' && !this.#isReleased;
  }

  /** Handles what the provider reports about the call. */
  hear(event: WordsEvent): void {
    switch (event.type) {
      case 'words':
        return;
      case 'speech':
        this.#call.conversation.speech(event.who, event.isOn, event.responseId);
        if (this.#isWanted) this.#captions.speech(event.who, event.isOn);
        return;
      case 'inputCommitted':
        return this.#call.conversation.heardOut();
      case 'transcript':
        if (event.who === 'visitor') this.#call.conversation.words();
        // What we add ourselves is shown when it is added, where it is to be shown at all.
        if (isOwnItem(event.item)) return;
        return this.#isWanted ? this.#captions.hear(event) : this.#captions.miss(event);
      case 'transcriptCut':
        return this.#captions.cut(event.item, event.atMs);
      case 'toolsAsked':
        return this.#ask(event.responseId, event.calls);
      case 'toolAnswered':
        this.#answers.heard(event);
        return this.#forged?.answered(event);
      case 'itemRemoved':
        return this.#forged?.removed(event.item);
    }
  }

  /** Does what is due and tells pages when the call's state changed: call it several times a second, and when the record has changed. */
  follow(): void {
    const at = this.#deps.clock.now();
    for (const [node, untilMs] of this.#wanted) if (untilMs <= at) this.#unwant(node);
    for (const callId of this.#answers.overdue(at))
      if (!this.actions.answerTool(callId, { error: 'timed_out' })) this.#answers.giveUp(callId);
    this.#server?.follow();
    this.carryover.follow();
    this.#answers.tell();
    if (this.#call.record.state !== this.#state) this.#tellState();
  }

  /** A node has sockets that want to hear of the call, or has none any more. @param tools that it still shows as asked for */
  want(node: string, isOn: boolean, tools: readonly string[]): void {
    if (!isOn) return this.#unwant(node);
    const isNew = !this.#wanted.has(node);
    this.#wanted.set(node, this.#deps.clock.now() + WANTED_MS);
    // Tool calls that the previous owner of the call had asked for, and died before they were answered.
    this.#show([], this.#answers.interrupt(tools));
    if (!isNew) return;
    this.#tellState();
    if (this.#server !== undefined) this.#think(this.#server.running);
  }

  /** Puts an operator's words into the conversation, which no page is shown. @returns whether the provider was told */
  whisper(request: string, text: string): boolean {
    return this.#call.conversation.add({ id: itemIdOf(`whisper_${request}`), type: 'message', role: 'system', text });
  }

  /** Another node held the call. */
  takenOver(): void {
    this.#deps.running.start(this.carryover.remember());
    this.#server?.takenOver();
  }

  /** Resolves when no tool of the server is running. */
  async toolsSettled(): Promise<void> {
    await this.#server?.settled();
  }

  /** Another node is to hold the call: tool calls that are not answered yet are answered `interrupted`. */
  async handOver(): Promise<void> {
    this.actions.interruptTools();
    this.carryover.keep();
    await this.#server?.handOver();
    this.#answers.giveUpPages();
  }

  /** This node no longer holds the call. */
  release(): void {
    this.#isReleased = true;
    this.#captions.clear();
    this.#server?.release();
  }

  get #isWanted(): boolean {
    return this.#wanted.size > 0;
  }

  #unwant(node: string): void {
    this.#wanted.delete(node);
    if (!this.#isWanted) this.#captions.clear();
  }

  /** Pages with a data channel hear there which tools they are to run, and answer the provider themselves. */
  #ask(responseId: string, calls: readonly ToolCall[]): void {
    // What the agent asks for between the hang-up and its confirmation has no effect any more.
    if (this.#call.record.state !== 'open') return;
    const [setup, at] = [this.#setup, this.#deps.clock.now()];
    const isServers = ({ name }: ToolCall): boolean => this.#server?.has(name) === true;
    const ours = setup?.dataChannel === 'none' ? calls : calls.filter(isServers);
    const asToAnswer = (call: ToolCall) => ({
      callId: call.callId,
      untilMs: isServers(call) ? Infinity : at + ANSWER_MS,
    });
    const pages = calls.filter((call) => !ours.includes(call));
    for (const { callId } of pages) this.#forged?.permit(callId);
    const fresh = new Set(this.#answers.ask(responseId, ours.map(asToAnswer), pages.map(asToAnswer)));
    // A call that is named twice is run once.
    const once = ours.filter(({ callId }) => fresh.delete(callId));
    this.#server?.ask(once.filter(isServers));
    this.#show(this.actions.askTools(once.filter((call) => !isServers(call))));
  }

  /** Shows which tool of the server is running, if any: visitors hear nothing meanwhile. */
  #think(tool: string | undefined): void {
    if (this.#isWanted) this.#show([{ type: 'thinking', on: tool !== undefined, ...(tool !== undefined && { tool }) }]);
  }

  #showSaid(item: string, text: string): void {
    if (this.#isWanted) this.#captions.hear({ type: 'transcript', item, who: 'visitor', text, isWhole: true });
  }

  #showWords(frames: readonly CallFrame[]): void {
    this.carryover.note(frames);
    this.#show(frames);
  }

  #tellState(): void {
    const { state, closeReason, id: call } = this.#call.record;
    this.#state = state;
    const told = state === 'creating' ? 'connecting' : state;
    this.#show([{ type: 'call', state: told, call, ...(closeReason !== null && { reason: closeReason }) }]);
  }

  #show(frames: readonly CallFrame[], settled: readonly string[] = []): void {
    if (frames.length === 0 && settled.length === 0) return;
    const { sessionId } = this.#call.record;
    this.#deps.bus.publish({ type: 'call.shown', sessionId, frames: [...frames], settled: [...settled] });
  }
}
