import { untilAborted } from './abort.ts';
import type { ConnectOptions, SessionEvents, ToolHandlers } from './api.ts';
import type { Emitter } from './emitter.ts';
import { failure } from './error.ts';

/** The agent stays silent while a handler runs, so it may take no longer. */
const TOOL_MS = 10_000;

/** Events with words: the visitor's as they are recognised, the agent's as they are spoken or written. */
const WORDS = /^(conv|resp).*(?:transcript|transcription|text)\.(delta|completed|done)$/;

/** Events about who speaks: the visitor as the provider hears them, the agent as the visitor hears it. */
const SPEECH = /^(in|out)put_audio_buffer\.(?:speech_)?(started|stopped|cleared)$/;

interface FunctionCall {
  readonly type: string;
  readonly name: string;
  readonly call_id: string;
  readonly arguments: string;
}

/** The parts of the provider's events that are read. */
export interface ProviderEvent {
  readonly type: string;
  readonly item_id: string;
  readonly delta: string;
  readonly transcript?: string;
  readonly text?: string;
  readonly item?: { readonly type: string; readonly call_id: string };
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly output: readonly FunctionCall[];
    readonly usage?: { readonly total_tokens: number };
  };
}

/** The output, or an error if it is too large for a frame of Switchboard's socket. */
export function fit(output: unknown): unknown {
  return new Blob([JSON.stringify(output)]).size > 16_384 ? { error: 'too_large' } : output;
}

/** Answers a tool call. @returns undefined if the page or Switchboard answers it */
export type RunTool = (id: string, name: string, json: string) => Promise<unknown> | undefined;

/**
 * Reports the tool calls of the agent, and has the page's handlers answer them.
 * @param tools if it is a list, the page answers the calls itself; if it is missing, the model is told that there is no such tool
 * @param serverTools the names of the tools that Switchboard answers
 */
export function createTools(
  tools: ConnectOptions['tools'] = {},
  emit: Emitter<SessionEvents>['emit'],
  serverTools: readonly string[] = [],
): RunTool {
  async function run(handlers: ToolHandlers, name: string, json: string): Promise<unknown> {
    const signal = AbortSignal.timeout(TOOL_MS);
    try {
      const tool = Object.hasOwn(handlers, name) && handlers[name];
      if (!tool) throw new Error(`There is no tool ${name}.`);
      const run = typeof tool === 'function' ? tool : tool.run;
      return (await untilAborted(run(JSON.parse(json || '{}'), { signal }), signal)) ?? null;
    } catch (cause) {
      emit('error', failure('TOOL_FAILED', String(cause)));
      return { error: String(cause) };
    }
  }

  return (id, name, json) => {
    if (serverTools.includes(name)) return undefined;
    emit('tool', { id, name, arguments: json });
    return Array.isArray(tools) ? undefined : run(tools, name, json);
  };
}

/**
 * Follows a conversation by the provider's events (OpenAI's realtime API): reports its words and who speaks, and answers tool calls.
 * @param send sends an event to the provider
 * @param serverTools the names of the tools that Switchboard answers
 */
export function followConversation(
  runTool: RunTool,
  send: (event: object) => void,
  emit: Emitter<SessionEvents>['emit'],
  serverTools: readonly string[] = [],
): (event: ProviderEvent) => void {
  const texts = new Map<string, string>();
  /** What to do when the conversation has taken the answer of a tool call, for responses that Switchboard answers in part. */
  const answered = new Map<string, () => void>();
  const goOn = (): void => send({ type: 'response.create' });

  /**
   * Answers all tool calls of a response together, because the provider makes one response at a time. If Switchboard answers some of them, the
   * side whose answer the conversation took last asks for the next response. Switchboard sees the answers in the same order.
   */
  async function answer(calls: readonly FunctionCall[]): Promise<void> {
    const isOurs = ({ name }: FunctionCall): boolean => serverTools.includes(name);
    const isShared = calls.some(isOurs);
    let open = calls.length;
    if (isShared) calls.forEach((call) => answered.set(call.call_id, () => (open -= 1) || isOurs(call) || goOn()));
    const answers = calls.map(async ({ call_id, name, arguments: json }) => {
      const answer = runTool(call_id, name, json);
      if (!answer) return false;
      const output = JSON.stringify(await answer);
      send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output } });
      return true;
    });
    if ((await Promise.all(answers)).includes(true) && !isShared) goOn();
  }

  return ({ type, item_id: id, delta, transcript, text = transcript, item, response }) => {
    const [, source, step] = WORDS.exec(type) ?? [];
    if (step) {
      const final = step !== 'delta';
      const words = (final ? text : (texts.get(id) ?? '') + delta) ?? '';
      texts.set(id, words);
      emit('transcript', { id, who: source === 'conv' ? 'visitor' : 'agent', text: words, final });
    }
    const [, side, change] = SPEECH.exec(type) ?? [];
    if (side) emit('speech', { who: side === 'in' ? 'visitor' : 'agent', on: change === 'started' });
    if (item?.type === 'function_call_output') {
      answered.get(item.call_id)?.();
      answered.delete(item.call_id);
    }
    // A response that the visitor interrupted has another status, and its tool calls are not answered.
    if (response?.status === 'completed') void answer(response.output.filter((item) => item.type === 'function_call'));
  };
}
