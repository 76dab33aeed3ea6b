import { toolCallMachine } from '../../../machines/tool-call/machine.ts';
import { isUnanswered, savedState } from '../../../machines/tool-call/selectors.ts';
import type { ToolCallEvent, ToolCallRecord, ToolCallTerms } from '../../../machines/tool-call/types.ts';
import { Steps, type Snapshot } from '../../actors/steps.ts';
import type { ServerTool } from '../../protocol/server-tool.ts';
import type { HeldCallDeps } from '../deps.ts';

/** A tool call that is not answered yet. */
export interface RunningTool {
  readonly tool: ServerTool;
  /** Undefined where they are not what the tool requires. */
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly abort: AbortController;
  snapshot: Snapshot<ToolCallRecord>;
  isSent: boolean;
  /** It was answered, or nobody waits for it any more. */
  isOver: boolean;
}

interface ToolStart extends Pick<RunningTool, 'tool' | 'args'> {
  readonly at: number;
  readonly terms: ToolCallTerms;
  /** The fence of the voice call that its owner holds. */
  readonly fence: number;
}

/** The tool calls that are running in one held call, each driven by machines/tool-call. */
export class RunningTools {
  readonly #steps = new Steps<ToolCallRecord, ToolCallEvent, never>(toolCallMachine);
  readonly #running = new Map<string, RunningTool>();

  /** In the order in which they were asked for. */
  get all(): readonly RunningTool[] {
    return [...this.#running.values()];
  }

  /** Starts a tool call, which is over after the `timeoutMs` of its tool: its default and its bounds are in src/protocol/server-tool.ts. */
  begin({ tool, args, at, terms, fence }: ToolStart): RunningTool {
    const ask = { type: 'ASK', at, terms, untilMs: at + tool.timeoutMs, fence } as const;
    const [asked] = this.#steps.send(this.#steps.begin(undefined), ask);
    const [snapshot] = this.#steps.send(
      asked,
      args === undefined ? { type: 'REFUSED', at, code: 'bad_arguments' } : { type: 'STARTED', at },
    );
    const running = { tool, args, abort: new AbortController(), snapshot, isSent: false, isOver: false };
    this.#running.set(terms.toolCallId, running);
    return running;
  }

  /** Ends a tool call by an event, and aborts its request. @returns its record; undefined where it was over already */
  finish(running: RunningTool, event: ToolCallEvent): ToolCallRecord | undefined {
    if (running.isOver || !isUnanswered(running.snapshot.context)) return undefined;
    [running.snapshot] = this.#steps.send(running.snapshot, event);
    running.isOver = true;
    running.abort.abort();
    return running.snapshot.context;
  }

  end(toolCallId: string): void {
    this.#running.delete(toolCallId);
  }

  /** The record of a tool call of the previous owner, as the node that takes the call leaves it. @returns undefined for one that needs no answer */
  take(before: ToolCallRecord, fence: number, at: number): ToolCallRecord | undefined {
    if (!isUnanswered(before)) return undefined;
    const snapshot = this.#steps.resume(savedState(before), before);
    const [{ context }] = this.#steps.send(snapshot, { type: 'TAKEN', at, fence });
    return context.version > before.version ? context : undefined;
  }
}

type ReservedPricesDeps = Pick<HeldCallDeps, 'budgets' | 'metering'>;

/** The prices of the tools that are running in one held call, so that many asked for at once cannot pass a ceiling together. */
export class ReservedPrices {
  readonly #callId: string;
  readonly #deps: ReservedPricesDeps;
  /** By the provider's ids of the tool calls. */
  readonly #reserved = new Map<string, number>();

  constructor(callId: string, deps: ReservedPricesDeps) {
    this.#callId = callId;
    this.#deps = deps;
  }

  /** @returns false where some budget cannot pay for it beside everything that is running */
  reserve(toolCallId: string, price: number): boolean {
    if (price === 0) return true;
    const { budgets, metering } = this.#deps;
    const { tokens, microDollars } = metering.uncounted(this.#callId);
    const running = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
    if (!budgets.affords(this.#callId, [], { tokens, microDollars: microDollars + running + price })) return false;
    this.#reserved.set(toolCallId, price);
    return true;
  }

  /** The tool call is charged, or costs nothing. */
  release(toolCallId: string): void {
    this.#reserved.delete(toolCallId);
  }
}
