import { untilAborted } from './abort.ts';
import type { ConnectOptions, SessionEvents, ToolHandlers } from './api.ts';
import type { Emitter } from './emitter.ts';
import { failure } from './error.ts';

/** A handler that takes longer keeps the agent silent. */
const TOOL_MS = 10_000;

/** Words of the visitor, as they are recognised, and of the agent, as they are spoken or written. */
const WORDS = /^(conv|resp).*(?:transcript|transcription|text)\.(delta|completed|done)$/;

/** The visitor as the provider hears them, and the agent as the visitor does. */
const SPEECH = /^(in|out)put_audio_buffer\.(?:speech_)?(started|stopped|cleared)$/;

interface FunctionCall {
  readonly type: string;
  readonly name: string;
  readonly call_id: string;
  readonly arguments: string;
}

/** What is read of the provider's events. */
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

/** What fits into a frame of our socket. */
export function fit(output: unknown): unknown {
  return new TextEncoder().encode(JSON.stringify(output)).length > 16_384 ? { error: 'too_large' } : output;
}

/** Answers a call of a tool. @returns undefined where it is for the page itself to answer */
export type RunTool = (id: string, name: string, json: string) => Promise<unknown> | undefined;

/**
 * Tells of the tools that the agent asks for, and has the page's handlers answer.
 * @param tools calls are for the page itself to answer where they are a list; without any the model hears that there is no such tool
 * @param serverTools those that Switchboard answers
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
 * Follows a conversation by the provider's events (OpenAI's realtime API): tells its words and who speaks, and answers the calls of tools.
 * @param send an event to the provider
 * @param serverTools those that Switchboard answers
 */
export function followConversation(
  runTool: RunTool,
  send: (event: object) => void,
  emit: Emitter<SessionEvents>['emit'],
  serverTools: readonly string[] = [],
): (event: ProviderEvent) => void {
  const texts = new Map<string, string>();
  /** What the answer of a call comes to, of responses of which Switchboard answers some. */
  const answered = new Map<string, () => void>();
  const goOn = (): void => send({ type: 'response.create' });

  /**
   * All that a response asks for is answered together: the provider makes one response at a time. Of one that is shared whoever gave the
   * answer that the conversation took last asks for it; Switchboard hears the same order.
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
    // Not of a response that the visitor interrupted.
    if (response?.status === 'completed') void answer(response.output.filter((item) => item.type === 'function_call'));
  };
}
