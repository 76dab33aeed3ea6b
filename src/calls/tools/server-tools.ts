import { isUnanswered, savedState } from '../../../machines/tool-call/selectors.ts';
import type { ToolCallEvent, ToolCallFact, ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { toolCallMachine } from '../../../machines/tool-call/machine.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { Steps, type Snapshot } from '../../actors/steps.ts';
import { BackgroundTasks } from '../../kernel/background-tasks.ts';
import type { Clock } from '../../kernel/clock.ts';
import { Unavailable } from '../../kernel/errors.ts';
import { randomId, refOf } from '../../kernel/ids.ts';
import type { ServerTool } from '../../protocol/server-tool.ts';
import type { Metadata } from '../../protocol/create.ts';
import type { ToolCalls } from '../../stores/tool-calls/contract.ts';
import type { Events } from '../../telemetry/events.ts';
import type { ToolCall } from '../../upstream/contract.ts';
import type { CallSessions } from '../contract.ts';
import type { Conversation } from '../conversation.ts';
import { readArguments } from './read-arguments.ts';
import { ReservedPrices, type ReservedPricesDeps } from './reserved-prices.ts';
import type { ToolAnswers } from './tool-answers.ts';
import type { ToolOutcome } from './tool-reply.ts';
import { canNameRequest } from './tool-request.ts';
import { ToolSaves } from './tool-saves.ts';
import type { ToolSender } from './tool-sender.ts';

/** A visitor who hears nothing for so long is told that the agent is looking, where the tool has words for that. */
const SAY_MS = 1500;

/** What a node calls tools of the server with. */
export interface ServerToolParts {
  readonly sender: Pick<ToolSender, 'send'>;
  readonly store: ToolCalls;
  /** How many calls of its tools a session of the agent may have, together. */
  readonly perSession: (tenantId: string, agentId: string | null) => number;
}

export interface ServerToolsDeps extends ReservedPricesDeps {
  readonly serverTools: ServerToolParts;
  readonly sessions: Pick<CallSessions, 'find'>;
  readonly clock: Clock;
  readonly after: (ms: number, act: () => void) => () => void;
  readonly events: Pick<Events, 'toolCalled'>;
  readonly onError: (error: unknown) => void;
}

/** The voice call in which tools are called. */
interface ToolsCall {
  readonly record: CallRecord;
  readonly conversation: Pick<Conversation, 'add' | 'respond'>;
  /** Counts what a call of a tool costs, under its name, however often it is said. */
  readonly charge: (toolCallId: string, microDollars: number) => void;
}

interface Running {
  readonly tool: ServerTool;
  readonly abort: AbortController;
  snapshot: Snapshot<ToolCallRecord>;
  isSent: boolean;
  /** It was answered, or nobody waits for it. */
  isOver: boolean;
}

/**
 * The tools of the server in one held call, as machines/tool-call decides: each call of one is in the database before its request leaves,
 * and is answered once. What another node has begun is answered `interrupted`: nobody knows its arguments any more.
 */
export class ServerTools {
  readonly #call: ToolsCall;
  readonly #tools: ReadonlyMap<string, ServerTool>;
  readonly #metadata: Metadata;
  readonly #answers: ToolAnswers;
  readonly #deps: ServerToolsDeps;
  readonly #works: BackgroundTasks;
  readonly #steps = new Steps<ToolCallRecord, ToolCallEvent, ToolCallFact>(toolCallMachine);
  readonly #running = new Map<string, Running>();
  /** Which of the session's calls of tools is above its limit is exact while one is inserted after the other. */
  #inserting: Promise<unknown> = Promise.resolve();
  readonly #prices: ReservedPrices;
  readonly #saves: ToolSaves;
  /** The call was another node's, and what that did not live to answer is to be looked up. */
  #isTaken = false;
  #hasSaid = false;
  readonly #tellRunning: (tool: string | undefined) => void;

  /** @param tellRunning is told which tool runs, and that none does any more */
  constructor(
    call: ToolsCall,
    { tools, metadata }: { readonly tools: ReadonlyMap<string, ServerTool>; readonly metadata: Metadata | null },
    answers: ToolAnswers,
    tellRunning: (tool: string | undefined) => void,
    deps: ServerToolsDeps,
  ) {
    this.#call = call;
    this.#tools = tools;
    this.#metadata = metadata ?? {};
    this.#answers = answers;
    this.#tellRunning = tellRunning;
    this.#deps = deps;
    this.#works = new BackgroundTasks(deps.onError);
    this.#prices = new ReservedPrices(call.record.id, deps);
    this.#saves = new ToolSaves(deps.serverTools.store);
  }

  /** The tool that runs, the one that was asked for first. */
  get running(): string | undefined {
    const [first] = this.#running.values();
    return first?.tool.name;
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Runs one that the agent asks for, which is pending already, and answers it. */
  ask({ callId, name, arguments: json }: ToolCall): void {
    const tool = this.#tools.get(name);
    if (tool !== undefined) this.#works.start(this.#run(callId, tool, json));
  }

  /** Another node held the call. */
  taken(): void {
    this.#isTaken = true;
  }

  /** Does again what the database did not take: call it several times a second. */
  follow(): void {
    if (this.#isTaken) this.#works.start(this.#interruptOthers());
    const retrying = this.#saves.retry();
    if (retrying !== undefined) this.#works.start(retrying);
  }

  /** Answers what runs as interrupted, because another node is to hold the call. Resolves when that is saved, or cannot be. */
  async handOver(): Promise<void> {
    for (const running of this.#running.values())
      this.#finish(running, { type: 'FAILED', at: this.#now, code: 'interrupted' });
    await this.#works.settled();
  }

  /** This node holds the call no more: nobody waits for what runs. */
  release(): void {
    for (const running of this.#running.values()) this.#finish(running, { type: 'CALL_CLOSED', at: this.#now });
  }

  /** Resolves when every tool that was asked for is answered and saved: a node that stops waits for it. */
  settled(): Promise<void> {
    return this.#works.settled();
  }

  get #now(): number {
    return this.#deps.clock.now();
  }

  async #run(toolCallId: string, tool: ServerTool, json: string): Promise<void> {
    const given = canNameRequest(toolCallId) ? readArguments(json, tool.parameters) : undefined;
    const running = this.#begin(toolCallId, tool, given !== undefined);
    const stopSaying = this.#deps.after(SAY_MS, () => this.#say(running));
    try {
      const { agentId = null } = (await this.#deps.sessions.find(this.#call.record.sessionId)) ?? {};
      if (running.isOver) return;
      const inserted = await this.#insert(running.snapshot.context, agentId);
      if (running.isOver) return;
      if (inserted !== 'inserted') this.#leave(running, inserted);
      else if (given === undefined) this.#tell(running, { code: 'bad_arguments' });
      else if (!this.#prices.reserve(toolCallId, tool.microDollars)) this.#finishBy(running, { code: 'too_many' });
      else this.#finishBy(running, await this.#send(running, given, agentId));
    } catch (fault) {
      this.#deps.onError(fault);
      if (given === undefined) this.#tell(running, { code: 'bad_arguments' });
      else this.#finishBy(running, { code: 'failed' });
    } finally {
      stopSaying();
      this.#end(toolCallId);
    }
  }

  #end(toolCallId: string): void {
    this.#running.delete(toolCallId);
    if (this.#running.size > 0) return;
    this.#hasSaid = false;
    this.#tellRunning(undefined);
  }

  #begin(toolCallId: string, tool: ServerTool, isRight: boolean): Running {
    const [steps, at, { id: callId, sessionId, fence }] = [this.#steps, this.#now, this.#call.record];
    const terms = { id: `tool_${randomId()}`, callId, toolCallId, sessionId, name: tool.name };
    const untilMs = at + tool.timeoutMs;
    const [asked] = steps.send(steps.begin(undefined), { type: 'ASK', at, terms, untilMs, fence });
    const [snapshot] = steps.send(
      asked,
      isRight ? { type: 'STARTED', at } : { type: 'REFUSED', at, code: 'bad_arguments' },
    );
    const running = { tool, abort: new AbortController(), snapshot, isSent: false, isOver: false };
    this.#running.set(toolCallId, running);
    if (this.#running.size === 1) this.#tellRunning(tool.name);
    return running;
  }

  #insert(record: ToolCallRecord, agentId: string | null): Promise<'inserted' | 'taken' | 'too_many'> {
    const { store, perSession } = this.#deps.serverTools;
    const most = perSession(this.#call.record.tenantId, agentId);
    const inserting = this.#inserting.then(() => store.insert(record, most));
    this.#inserting = inserting.catch(() => undefined);
    return inserting;
  }

  #send(running: Running, given: Readonly<Record<string, unknown>>, agentId: string | null): Promise<ToolOutcome> {
    const { toolCallId, untilMs } = running.snapshot.context;
    const { id, sessionId, tenantId, subject } = this.#call.record;
    const session = { ref: refOf(sessionId), tenantId, agentId, subject, metadata: this.#metadata };
    const request = { toolCallId, tool: running.tool, arguments: given, context: { session, call: { ref: id } } };
    const leaves = (): void => void (running.isSent = true);
    const timeoutMs = Math.max(0, untilMs - this.#now);
    return this.#deps.serverTools.sender.send(request, { timeoutMs, signal: running.abort.signal, leaves });
  }

  #finishBy(running: Running, outcome: ToolOutcome): void {
    const at = this.#now;
    if (!('code' in outcome))
      return this.#finish(running, { type: 'ANSWERED', at, bytes: outcome.bytes }, outcome.output);
    const { code } = outcome;
    this.#finish(
      running,
      code === 'timed_out' ? { type: 'CLOCK', at: running.snapshot.context.untilMs } : { type: 'FAILED', at, code },
    );
  }

  /** What becomes of one that runs is told and saved; one that is over stays as it is. */
  #finish(running: Running, event: ToolCallEvent, output?: unknown): void {
    const before = running.snapshot.context;
    if (running.isOver || !isUnanswered(before)) return;
    const [snapshot] = this.#steps.send(running.snapshot, event);
    running.snapshot = snapshot;
    running.isOver = true;
    running.abort.abort();
    const record = snapshot.context;
    const isReached = record.code !== 'unreachable' && record.code !== 'too_many';
    this.#prices.release(record.toolCallId);
    if (running.isSent && isReached) this.#call.charge(record.toolCallId, running.tool.microDollars);
    if (record.state !== 'dropped') this.#tell(running, record.code === null ? { output } : { code: record.code });
    // Its insert may be under way.
    this.#works.start(this.#inserting.then(() => this.#saves.save(record, before.version)));
  }

  /** It is no call of this node's to run: another one has it, or the session has used up its limit. */
  #leave(running: Running, why: 'taken' | 'too_many'): void {
    running.isOver = true;
    if (why === 'taken') this.#answers.forget(running.snapshot.context.toolCallId);
    else this.#tell(running, { code: 'too_many' });
  }

  #tell(
    { snapshot: { context } }: Running,
    outcome: { readonly output: unknown } | Extract<ToolOutcome, { code: unknown }>,
  ): void {
    const { toolCallId, name, ms } = context;
    const isAnswered = !('code' in outcome);
    this.#deps.events.toolCalled(name, isAnswered ? 'answered' : outcome.code, ms ?? 0);
    this.#answers.answer(toolCallId, isAnswered ? outcome.output : { error: outcome.code });
  }

  /** Once for all that runs at the same time. */
  #say({ tool: { name, say } }: Running): void {
    const { conversation } = this.#call;
    if (say === undefined || this.#hasSaid) return;
    const text = `${name} takes a moment to answer. Until then say only: ${say}`;
    this.#hasSaid = conversation.add({ type: 'message', role: 'system', text });
    if (this.#hasSaid) conversation.respond(null);
  }

  async #interruptOthers(): Promise<void> {
    this.#isTaken = false;
    const { serverTools, onError, events } = this.#deps;
    const { id, fence } = this.#call.record;
    try {
      const found = await serverTools.store.unanswered(id);
      const at = this.#now;
      const lost = found
        .map((before) => ({ before, snapshot: this.#steps.resume(savedState(before), before) }))
        .map(({ before, snapshot }) => ({
          before,
          record: this.#steps.send(snapshot, { type: 'TAKEN', at, fence })[0].context,
        }))
        .filter(({ before, record }) => record.version > before.version);
      this.#answers.interrupt(lost.map(({ record }) => record.toolCallId));
      for (const { before, record } of lost) {
        events.toolCalled(record.name, 'interrupted', record.ms ?? 0);
        if (record.tries > 0) this.#call.charge(record.toolCallId, this.#tools.get(record.name)?.microDollars ?? 0);
        await this.#saves.save(record, before.version);
      }
    } catch (fault) {
      this.#isTaken = true;
      if (!(fault instanceof Unavailable)) onError(fault);
    }
  }
}
