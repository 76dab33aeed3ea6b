import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { BackgroundTasks } from '../../kernel/background-tasks.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isOwnItem, itemIdOf } from '../item-id.ts';
import {
  MAX_CALL_MESSAGE_BYTES,
  toolOutputText,
  type CallFrame,
  type CallRequest,
} from '../../protocol/call-frames.ts';
import { SERVER_TOOL } from '../../protocol/server-tool.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import type { Bus } from '../../stores/bus/contract.ts';
import type { ToolCall, UpstreamEvent } from '../../upstream/contract.ts';
import type { Conversation } from '../conversation.ts';
import type { Recaps } from '../recaps.ts';
import { Captions } from './captions.ts';
import { noTools, overdueTools, withAnswered, withAsked } from './pending-tools.ts';
import { Recap } from './recap.ts';

/** For so long a node's word holds that it has sockets which want to hear of the call. */
const WANTED_MS = 30_000;
/** What pages said last, so that it is not said again. */
const MAX_SAID = 32;
const MAX_ANSWERED = 256;
/** A `tool` frame of more is not sent: it has room for an answer's longest. */
const MAX_ARGUMENT_BYTES = MAX_CALL_MESSAGE_BYTES - 4096;

export interface CallPagesDeps {
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  readonly after: (ms: number, act: () => void) => () => void;
  readonly recaps: Pick<Recaps, 'keep' | 'find'>;
  readonly running: Pick<BackgroundTasks, 'start'>;
}

/** Why a call closes that another one of its session may follow. */
const MAY_BE_FOLLOWED: ReadonlySet<CallRecord['closeReason']> = new Set(['replaced', 'remote', 'lost']);

/** The call, as far as its pages see it and act in it. */
interface PagesCall {
  readonly record: CallRecord;
  readonly conversation: Conversation;
  readonly hear: (event: UpstreamEvent) => void;
}

/** What a provider tells of what is said. */
export type WordsEvent = Extract<UpstreamEvent, { type: 'speech' | 'transcript' | 'transcriptCut' | 'toolsAsked' }>;

type Refused = 'CALL_NOT_OPEN' | 'TOOL_UNKNOWN';

/**
 * What the pages of one held call are shown of it, and what they do in it, by frames of our own sockets on whichever node
 * (docs/contract.md, section 7.6). Where no socket wants to know, nothing is gathered and nothing said.
 */
export class CallPages {
  readonly #call: PagesCall;
  readonly #setup: Pick<SessionSetup, 'tools' | 'dataChannel'> | undefined;
  readonly #deps: CallPagesDeps;
  readonly #captions: Captions;
  readonly #recap = new Recap();
  /** Whether pages were shown words that are not kept, and whether these are worth it before the call closes. */
  #isSaidMore = false;
  #isRecapDue = false;
  /** The agent is still to be told what was said before. */
  #seed: string | undefined;
  /** Until when each node's sockets want to hear of the call. */
  readonly #wanted = new Map<string, number>();
  /** What pages said, by the names that they gave it. */
  readonly #said = new Set<string>();
  #tools = noTools;
  /** Tools that were answered here, so that another node's word of them is known for an old one. */
  readonly #answered = new Set<string>();
  /** Answers that the provider was not told yet. */
  readonly #outputs: { readonly callId: string; readonly output: string; readonly isLast: boolean }[] = [];
  #state: CallRecord['state'] | undefined;

  /** @param setup undefined where it is not kept any more: then pages are asked for no tools */
  constructor(call: PagesCall, setup: Pick<SessionSetup, 'tools' | 'dataChannel'> | undefined, deps: CallPagesDeps) {
    this.#call = call;
    this.#setup = setup;
    this.#deps = deps;
    this.#captions = new Captions({ ...deps, show: (frames) => this.#showWords(frames) });
  }

  /** Takes up what pages were shown of the session before this node held its call, if that is still kept. */
  async remember(): Promise<void> {
    const said = await this.#deps.recaps.find(this.#call.record.sessionId);
    if (said !== undefined) this.#recap.putBefore(said);
  }

  /** The session's conversation goes on in this call: its agent is told what was said before. Call it once, when the call is open. */
  goOn(): void {
    this.#seed = this.#recap.text;
    this.#tellSeed();
  }

  /** Takes what a provider tells of the call. */
  hear(event: WordsEvent): void {
    switch (event.type) {
      case 'speech':
        if (this.#isWanted) this.#captions.speech(event.who, event.isOn);
        return;
      case 'transcript':
        // What we put in is shown as it is put in, where it is to be shown.
        if (isOwnItem(event.item)) return;
        return this.#isWanted ? this.#captions.hear(event) : this.#captions.miss(event);
      case 'transcriptCut':
        return this.#captions.cut(event.item, event.atMs);
      case 'toolsAsked':
        return this.#ask(event.responseId, event.calls);
    }
  }

  /** Tells what became of the call, and what is due; call it several times a second, and when the record has changed. */
  follow(): void {
    const at = this.#deps.clock.now();
    for (const [node, untilMs] of this.#wanted) if (untilMs <= at) this.#unwant(node);
    for (const callId of overdueTools(this.#tools, at)) this.#answer(callId, { error: 'timed_out' });
    this.#tellSeed();
    this.#tellOutputs();
    if (this.#call.record.state !== this.#state) this.#tellState();
    if (this.#isRecapDue && this.#state === 'open') this.#keepRecap();
  }

  /** A node has sockets that want to hear of the call, or no more. @param tools that it knows to be still asked for */
  want(node: string, isOn: boolean, tools: readonly string[]): void {
    if (!isOn) return this.#unwant(node);
    const isNew = !this.#wanted.has(node);
    this.#wanted.set(node, this.#deps.clock.now() + WANTED_MS);
    // What another node asked for that held the call before, and did not live to see answered.
    const lost = tools.filter((callId) => !this.#answered.has(callId) && !this.#isPending(callId));
    for (const callId of lost) this.#answerAs(callId, { error: 'interrupted' }, callId === lost.at(-1));
    if (isNew) this.#tellState();
  }

  /** Does what a page asks for. @returns why not; undefined once it is done */
  take(frame: CallRequest): Refused | undefined {
    if (frame.type === 'say') return this.#say(frame.id, frame.text);
    if (frame.type === 'tool_result') return this.#answer(frame.id, frame.output) ? undefined : 'TOOL_UNKNOWN';
    this.#call.hear({ type: 'activity' });
    this.#call.conversation.interrupt();
    return undefined;
  }

  /** Another node is to hold the call: what pages are still asked for is answered for them. */
  handOver(): void {
    for (const { callId } of this.#tools.pending) this.#answer(callId, { error: 'interrupted' });
    this.#keepRecap();
  }

  /** This node holds the call no more. */
  release(): void {
    this.#captions.clear();
  }

  get #isWanted(): boolean {
    return this.#wanted.size > 0;
  }

  #unwant(node: string): void {
    this.#wanted.delete(node);
    if (!this.#isWanted) this.#captions.clear();
  }

  #say(id: string, text: string): Refused | undefined {
    if (this.#said.has(id)) return undefined;
    const { conversation } = this.#call;
    const item = itemIdOf(`say:${id}`);
    if (!conversation.add({ id: item, type: 'message', role: 'user', text })) return 'CALL_NOT_OPEN';
    conversation.respond(null);
    this.#call.hear({ type: 'activity' });
    addToFew(this.#said, id, MAX_SAID);
    if (this.#isWanted) this.#captions.hear({ type: 'transcript', item, who: 'visitor', text, isWhole: true });
    return undefined;
  }

  /** Pages with a data channel hear of it there, and answer the provider themselves. */
  #ask(responseId: string, calls: readonly ToolCall[]): void {
    const [setup, { clock }] = [this.#setup, this.#deps];
    if (setup?.dataChannel !== 'none') return;
    const [tools, fresh] = withAsked(
      this.#tools,
      responseId,
      calls.map(({ callId }) => callId),
      clock.now(),
    );
    this.#tools = tools;
    const frames: CallFrame[] = [];
    for (const { callId: id, name, arguments: args } of calls.filter(({ callId }) => fresh.includes(callId))) {
      if (!isOfPages(name, setup)) this.#answer(id, { error: 'failed' });
      else if (!this.#isWanted) this.#answer(id, { error: 'unreachable' });
      else if (Buffer.byteLength(args) > MAX_ARGUMENT_BYTES) this.#answer(id, { error: 'too_large' });
      else frames.push({ type: 'tool', id, name, arguments: args });
    }
    this.#show(frames);
  }

  /** @returns false for one that nobody waits for */
  #answer(callId: string, output: unknown): boolean {
    const [tools, { isKnown, isLast }] = withAnswered(this.#tools, callId);
    if (!isKnown) return false;
    this.#tools = tools;
    this.#answerAs(callId, output, isLast);
    return true;
  }

  #answerAs(callId: string, output: unknown, isLast: boolean): void {
    addToFew(this.#answered, callId, MAX_ANSWERED);
    this.#outputs.push({ callId, output: toolOutputText(output), isLast });
    this.#tellOutputs();
    this.#show([], [callId]);
  }

  /** While nobody hears the call they wait. */
  #tellOutputs(): void {
    const { conversation } = this.#call;
    for (let next = this.#outputs[0]; next !== undefined; next = this.#outputs[0]) {
      const { callId, output, isLast } = next;
      if (!conversation.add({ id: itemIdOf(callId), type: 'tool_output', callId, output })) return;
      this.#outputs.shift();
      if (isLast) conversation.respond(null);
    }
  }

  #isPending(callId: string): boolean {
    return this.#tools.pending.some((tool) => tool.callId === callId);
  }

  /** While nobody hears the call it waits. */
  #tellSeed(): void {
    if (this.#seed === undefined) return;
    const item = { id: itemIdOf('recap'), type: 'message', role: 'user', text: this.#seed } as const;
    if (this.#call.conversation.add(item)) this.#seed = undefined;
  }

  #showWords(frames: readonly CallFrame[]): void {
    if (this.#recap.note(frames)) this.#isRecapDue = true;
    this.#isSaidMore ||= frames.some(({ type }) => type === 'transcript');
    this.#show(frames);
  }

  #keepRecap(): void {
    if (!this.#isSaidMore) return;
    this.#isSaidMore = false;
    this.#isRecapDue = false;
    const { recaps, running } = this.#deps;
    running.start(recaps.keep(this.#call.record.sessionId, this.#recap.said));
  }

  #tellState(): void {
    const { state, closeReason, id: call } = this.#call.record;
    if (MAY_BE_FOLLOWED.has(closeReason)) this.#keepRecap();
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

/** Tools of the server, which nothing calls yet, are never asked of a page: like a tool that does not exist, they fail. */
function isOfPages(name: string, { tools }: Pick<SessionSetup, 'tools'>): boolean {
  const named = tools.filter((tool) => tool.name === name);
  return named.length > 0 && named.every(({ kind }) => kind !== SERVER_TOOL);
}

/** Adds to the newest of a few. */
function addToFew(few: Set<string>, name: string, most: number): void {
  few.add(name);
  for (const oldest of few) {
    if (few.size <= most) return;
    few.delete(oldest);
  }
}
