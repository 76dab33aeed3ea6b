import type { ToolCallEvent, ToolFailure } from '../../../machines/tool-call/types.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { BackgroundTasks } from '../../kernel/async.ts';
import { Unavailable } from '../../kernel/errors.ts';
import { randomId } from '../../kernel/ids.ts';
import type { ServerTool } from '../../protocol/server-tool.ts';
import type { InsertedToolCall } from '../../stores/voice-calls/contract.ts';
import type { ToolCall } from '../../upstream/contract.ts';
import type { Conversation } from '../conversation.ts';
import type { HeldCallDeps } from '../deps.ts';
import { ReservedPrices, RunningTools, type RunningTool } from './running-tools.ts';
import type { ToolAnswers } from './tool-answers.ts';
import { readArguments, canNameRequest, requestOf, type SessionTerms } from './tool-request.ts';
import { ToolSaves, type EndedTool } from './tool-saves.ts';
import type { ToolOutcome } from './tool-sender.ts';

/** A visitor who hears nothing for this long is told that the agent is looking, where the tool has words for that. */
const SAY_MS = 1500;

/** The voice call in which tools are called. */
interface ToolsCall {
  readonly record: CallRecord;
  readonly conversation: Pick<Conversation, 'add' | 'respond' | 'lastWords'>;
  /** Charges for a tool call under its id, once however often it is called. */
  readonly charge: (toolCallId: string, microDollars: number) => void;
}

interface ToolListener {
  /** Hears of the provider's ids of tool calls that are answered here, or were by the node that held the call before. */
  readonly asked: (toolCallIds: readonly string[]) => void;
  /** Hears which tool runs; undefined once none does any more. */
  readonly running: (tool: string | undefined) => void;
}

/**
 * Runs the tools of the server in one held call, as machines/tool-call decides: each tool call is in the database before its request leaves, and is
 * answered once. What another node has begun is answered `interrupted`: nobody knows its arguments any more.
 */
export class ToolRunner {
  readonly #call: ToolsCall;
  readonly #tools: ReadonlyMap<string, ServerTool>;
  readonly #terms: SessionTerms;
  readonly #answers: ToolAnswers;
  readonly #deps: HeldCallDeps;
  readonly #works: BackgroundTasks;
  readonly #running = new RunningTools();
  readonly #prices: ReservedPrices;
  readonly #saves: ToolSaves;
  /** The call was another node's, and the tool calls that it died before answering are still to be looked up. */
  #isTaken = false;
  #hasSaid = false;
  readonly #listener: ToolListener;
  /** The session's agent, which never changes; undefined until it was looked up. */
  #agentId: string | null | undefined;

  constructor(
    call: ToolsCall,
    { tools, ...terms }: SessionTerms & { readonly tools: ReadonlyMap<string, ServerTool> },
    answers: ToolAnswers,
    listener: ToolListener,
    deps: HeldCallDeps,
  ) {
    this.#call = call;
    this.#tools = tools;
    this.#terms = terms;
    this.#answers = answers;
    this.#listener = listener;
    this.#deps = deps;
    this.#works = new BackgroundTasks(deps.onError);
    this.#prices = new ReservedPrices(call.record.id, deps);
    const { store } = deps.serverTools;
    const count = (): Promise<void> => deps.metering.flushCall(call.record.id);
    this.#saves = new ToolSaves({ store, count, after: deps.after });
  }

  /** Name of the running tool that was asked for first. */
  get running(): string | undefined {
    return this.#running.all[0]?.tool.name;
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Runs and answers the tool calls of one response, which are pending already. */
  ask(calls: readonly ToolCall[]): void {
    const asked = calls.flatMap((call) => this.#begin(call) ?? []);
    if (asked.length === 0) return;
    this.#listener.asked(asked.map(({ snapshot }) => snapshot.context.toolCallId));
    this.#works.start(this.#runAll(asked));
  }

  /** Another node held the call before. */
  takenOver(): void {
    this.#isTaken = true;
  }

  /** Retries what the database did not take: call it several times a second. */
  follow(): void {
    if (this.#isTaken) this.#works.start(this.#interruptOthers());
    const retrying = this.#saves.retry();
    if (retrying !== undefined) this.#works.start(retrying);
  }

  /** Answers what is running with `interrupted`, because another node is to hold the call. Resolves when that is saved, or cannot be. */
  async handOver(): Promise<void> {
    for (const running of this.#running.all)
      this.#finish(running, { type: 'FAILED', at: this.#now, code: 'interrupted' });
    await this.#works.settled();
  }

  /** This node no longer holds the call: nobody waits for what is running. */
  release(): void {
    for (const running of this.#running.all) this.#finish(running, { type: 'CALL_CLOSED', at: this.#now });
  }

  /** Resolves when every tool call is answered and saved: a node that stops waits for it. */
  settled(): Promise<void> {
    return this.#works.settled();
  }

  get #now(): number {
    return this.#deps.clock.now();
  }

  async #runAll(asked: readonly RunningTool[]): Promise<void> {
    const stopSaying = this.#deps.after(SAY_MS, () => this.#say(asked));
    let inserted: ReadonlyMap<RunningTool, InsertedToolCall> = new Map();
    let agentId: string | null = null;
    try {
      agentId = await this.#agent();
      inserted = await this.#insert(asked, agentId);
    } catch (fault) {
      this.#deps.onError(fault);
    }
    await Promise.all(asked.map((running) => this.#run(running, inserted.get(running), agentId)));
    stopSaying();
  }

  /** @param inserted undefined where the insert failed */
  async #run(running: RunningTool, inserted: InsertedToolCall | undefined, agentId: string | null): Promise<void> {
    const { args, tool, snapshot } = running;
    const { toolCallId } = snapshot.context;
    try {
      if (running.isOver) return;
      if (inserted === 'taken' || inserted === 'too_many') this.#skip(running, inserted);
      else if (args === undefined) this.#skip(running, 'bad_arguments');
      else if (inserted === undefined)
        this.#finishBy(running, { code: 'failed', detail: 'the database did not take the call' });
      else if (!this.#prices.reserve(toolCallId, tool.microDollars)) this.#finishBy(running, { code: 'too_many' });
      else this.#finishBy(running, await this.#send(running, args, agentId));
    } catch (fault) {
      this.#deps.onError(fault);
      this.#finishBy(running, { code: 'failed', detail: 'a fault of Switchboard, which its log tells' });
    } finally {
      this.#end(toolCallId);
    }
  }

  #end(toolCallId: string): void {
    this.#running.end(toolCallId);
    if (this.running !== undefined) return;
    this.#hasSaid = false;
    this.#listener.running(undefined);
  }

  /** @returns undefined for a tool that is not one of the server's */
  #begin({ callId: toolCallId, name, arguments: json }: ToolCall): RunningTool | undefined {
    const tool = this.#tools.get(name);
    if (tool === undefined) return undefined;
    const args = canNameRequest(toolCallId) ? readArguments(json, tool.parameters) : undefined;
    const { id: callId, sessionId, fence } = this.#call.record;
    const terms = { id: `tool_${randomId()}`, callId, toolCallId, sessionId, name };
    const isFirst = this.running === undefined;
    const running = this.#running.begin({ tool, args, at: this.#now, terms, fence });
    if (isFirst) this.#listener.running(name);
    return running;
  }

  async #agent(): Promise<string | null> {
    this.#agentId ??= (await this.#deps.sessions.find(this.#call.record.sessionId))?.agentId;
    return this.#agentId ?? null;
  }

  /** Inserts all at once; waits no longer than the shortest deadline among them. @throws Unavailable */
  async #insert(asked: readonly RunningTool[], agentId: string | null): Promise<Map<RunningTool, InsertedToolCall>> {
    // A call whose id cannot name a request is not saved either: no request is sent for it.
    const kept = asked.filter(({ snapshot, isOver }) => !isOver && canNameRequest(snapshot.context.toolCallId));
    const records = kept.map(({ snapshot }) => snapshot.context);
    const most = this.#deps.serverTools.perSession(this.#call.record.tenantId, agentId);
    const withinMs = Math.max(0, Math.min(...records.map(({ untilMs }) => untilMs)) - this.#now);
    const inserted = records.length === 0 ? [] : await this.#saves.insert(records, most, withinMs);
    return new Map(kept.flatMap((running, n) => (inserted[n] === undefined ? [] : [[running, inserted[n]] as const])));
  }

  #send(running: RunningTool, args: Readonly<Record<string, unknown>>, agentId: string | null): Promise<ToolOutcome> {
    const record = running.snapshot.context;
    const request = requestOf(running.tool, record, args, { call: this.#call.record, agentId, ...this.#terms });
    const leaves = (): void => void (running.isSent = true);
    const timeoutMs = Math.max(0, record.untilMs - this.#now);
    return this.#deps.serverTools.sender.send(request, { timeoutMs, signal: running.abort.signal, leaves });
  }

  #finishBy(running: RunningTool, outcome: ToolOutcome): void {
    const at = this.#now;
    if (!('code' in outcome)) {
      const { bytes, endReason, output } = outcome;
      return this.#finish(running, { type: 'ANSWERED', at, bytes, endReason }, output);
    }
    const { code, detail } = outcome;
    if (code === 'timed_out') this.#finish(running, { type: 'CLOCK', at: running.snapshot.context.untilMs });
    else this.#finish(running, { type: 'FAILED', at, code, detail });
  }

  /** Ends a running tool call, and tells and saves its outcome; one that is over stays as it is. */
  #finish(running: RunningTool, event: ToolCallEvent, output?: unknown): void {
    const { version: expectedVersion } = running.snapshot.context;
    const record = this.#running.finish(running, event);
    if (record === undefined) return;
    const { toolCallId, code } = record;
    const { microDollars } = running.tool;
    const isReached = code !== 'unreachable' && code !== 'too_many';
    const isCharged = running.isSent && isReached && microDollars > 0;
    this.#prices.release(toolCallId);
    if (isCharged) this.#call.charge(toolCallId, microDollars);
    // Its insert may still be under way.
    const save = (): Promise<void> =>
      this.#saves.inserted().then(() => this.#saves.save({ record, expectedVersion, isCharged }));
    // Saved before it is told: whatever dies from then on, the session ends.
    if (record.endReason !== null) this.#works.start(save().finally(() => this.#tell(running, { output })));
    else if (record.state === 'dropped') this.#works.start(save());
    // Saved after it is told: if this node dies in between, the node that takes the call gives an answer.
    else this.#tell(running, code === null ? { output } : { code }, () => this.#works.start(save()));
  }

  /** The tool call is not run here: another node has it, or no request is sent for it. */
  #skip(running: RunningTool, why: 'taken' | Extract<ToolFailure, 'too_many' | 'bad_arguments'>): void {
    running.isOver = true;
    if (why === 'taken') this.#answers.forget(running.snapshot.context.toolCallId);
    else this.#tell(running, { code: why });
  }

  #tell(
    { snapshot: { context } }: RunningTool,
    outcome: { readonly output: unknown } | Extract<ToolOutcome, { code: unknown }>,
    told?: () => void,
  ): void {
    const { toolCallId, name, ms, endReason } = context;
    const isAnswered = !('code' in outcome);
    this.#deps.events.toolCalled(name, isAnswered ? 'answered' : outcome.code, ms ?? 0);
    const output = isAnswered ? outcome.output : { error: outcome.code };
    this.#answers.answer(toolCallId, output, { told, endsSession: endReason !== null });
  }

  /** Says so once for all tools that run at the same time. */
  #say(asked: readonly RunningTool[]): void {
    const { conversation } = this.#call;
    const late = asked.find(({ tool, isOver }) => !isOver && tool.say !== undefined);
    if (late === undefined || this.#hasSaid) return;
    const { name, say } = late.tool;
    const text = `${name} takes a moment to answer. Until then say only: ${say}`;
    this.#hasSaid = conversation.add({ type: 'message', role: 'system', text });
    if (this.#hasSaid) conversation.respond(null);
  }

  /** Watches the tool calls of the previous owner as well, and answers those that it died before answering. */
  async #interruptOthers(): Promise<void> {
    this.#isTaken = false;
    const { serverTools, onError } = this.#deps;
    const { id, sessionId, fence } = this.#call.record;
    try {
      const found = (await serverTools.store.ofSession(sessionId)).filter(({ callId }) => callId === id);
      this.#listener.asked(found.map(({ toolCallId }) => toolCallId));
      const lost = found.flatMap((before) => {
        const record = this.#running.take(before, fence, this.#now);
        return record === undefined ? [] : [[record.toolCallId, { record, expectedVersion: before.version }] as const];
      });
      const saves = new Map(lost.map(([toolCallId, ended]) => [toolCallId, this.#interrupted(ended)]));
      // A call that ends the session is saved before it is told; told again, the provider takes no second item of its name.
      const ends = found.filter(({ endReason }) => endReason !== null).map(({ toolCallId }) => toolCallId);
      if (ends.length > 0) this.#call.conversation.lastWords();
      this.#answers.interrupt([...saves.keys()], (toolCallId) => saves.get(toolCallId)?.());
      this.#answers.interruptEnds(ends);
    } catch (fault) {
      this.#isTaken = true;
      if (!(fault instanceof Unavailable)) onError(fault);
    }
  }

  /** @returns a function that saves it, to be called once the provider is told */
  #interrupted(ended: Pick<EndedTool, 'record' | 'expectedVersion'>): () => void {
    const { name, toolCallId, ms, tries } = ended.record;
    const microDollars = this.#tools.get(name)?.microDollars ?? 0;
    const isCharged = tries > 0 && microDollars > 0;
    this.#deps.events.toolCalled(name, 'interrupted', ms ?? 0);
    if (isCharged) this.#call.charge(toolCallId, microDollars);
    return () => this.#works.start(this.#saves.save({ ...ended, isCharged }));
  }
}
