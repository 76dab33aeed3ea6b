import { untilAborted } from './abort.ts';
import type { ConnectOptions, SessionEvents, ToolHandlers } from './api.ts';
import type { Emitter } from './emitter.ts';
import { failure } from './error.ts';

/** A handler that takes longer keeps the agent silent. */
const TOOL_MS = 10_000;

/** Words of the visitor, as they are recognised, and of the agent, as they are spoken or written. */
const WORDS = /^(conv|resp).*(?:transcript|transcription|text)\.(delta|completed|done)$/;

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
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly output: readonly FunctionCall[];
    readonly usage?: { readonly total_tokens: number };
  };
}

/**
 * Follows a conversation by the provider's events (OpenAI's realtime API): tells its words, and answers the calls of tools.
 * @param tools calls are for the page itself to answer where they are a list; without any the model hears that there is no such tool
 * @param send an event to the provider
 */
export function followConversation(
  tools: ConnectOptions['tools'] = {},
  send: (event: object) => void,
  emit: Emitter<SessionEvents>['emit'],
): (event: ProviderEvent) => void {
  const texts = new Map<string, string>();

  async function run(handlers: ToolHandlers, { name, arguments: json }: FunctionCall): Promise<unknown> {
    const signal = AbortSignal.timeout(TOOL_MS);
    try {
      const tool = Object.hasOwn(handlers, name) && handlers[name];
      if (!tool) throw new Error(`There is no tool ${name}.`);
      const run = typeof tool === 'function' ? tool : tool.run;
      return await untilAborted(run(JSON.parse(json || '{}'), { signal }), signal);
    } catch (cause) {
      emit('error', failure('TOOL_FAILED', String(cause)));
      return { error: String(cause) };
    }
  }

  /** All that a response asks for is answered together: the provider makes one response at a time. */
  async function answer(handlers: ToolHandlers, calls: readonly FunctionCall[]): Promise<void> {
    const answers = calls.map(async (call) => {
      const output = JSON.stringify((await run(handlers, call)) ?? null);
      send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: call.call_id, output } });
    });
    await Promise.all(answers);
    if (answers.length > 0) send({ type: 'response.create' });
  }

  return ({ type, item_id: id, delta, transcript, text = transcript, response }) => {
    const [, source, step] = WORDS.exec(type) ?? [];
    if (step) {
      const final = step !== 'delta';
      const words = (final ? text : (texts.get(id) ?? '') + delta) ?? '';
      texts.set(id, words);
      emit('transcript', { id, who: source === 'conv' ? 'visitor' : 'agent', text: words, final });
    }
    // Not of a response that the visitor interrupted.
    if (!Array.isArray(tools) && response?.status === 'completed')
      void answer(
        tools,
        response.output.filter((item) => item.type === 'function_call'),
      );
  };
}
