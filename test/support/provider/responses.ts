/** How fast the stand-in's model talks, and how much it reads. */
export interface Generation {
  /** Output tokens per second, up to the response's limit. */
  readonly tokensPerSec: number;
  /** Tokens of context that each response reads. */
  readonly inputTokens: number;
}

export interface ResponseTerms {
  readonly id: string;
  /** Undefined: derived from how long the response ran. */
  readonly usage: unknown;
  /** Null for a response outside the conversation. */
  readonly conversationId: string | null;
  readonly maxOutputTokens: number | 'inf';
  readonly modalities: readonly string[];
}

const TELL_MS = 100;
/** The most tokens that a model produces in one response. */
const MAX_TOKENS = 4096;

/** One response at the stand-in for a provider, and what it has cost so far. */
export class TestResponse {
  readonly terms: ResponseTerms;
  readonly #generation: Generation;
  readonly #beganAtMs = performance.now();
  #timers: readonly NodeJS.Timeout[] = [];

  /** @param generation undefined for a response that says nothing by itself and ends when told to */
  constructor(
    terms: ResponseTerms,
    generation: Generation | undefined,
    on: { readonly said: (event: Record<string, unknown>) => void; readonly done: () => void },
  ) {
    this.terms = terms;
    this.#generation = generation ?? { tokensPerSec: 0, inputTokens: 0 };
    if (generation === undefined) return;
    const { tokensPerSec } = generation;
    const done = setTimeout(on.done, (this.#most / tokensPerSec) * 1000);
    const delta = 'x'.repeat(Math.round((tokensPerSec * TELL_MS * 0.75) / 1000));
    const said = { type: 'response.output_audio_transcript.delta', response_id: terms.id, delta };
    this.#timers = [done.unref(), setInterval(() => on.said(said), TELL_MS).unref()];
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** The usage that is billed. */
  get usage(): unknown {
    if (this.terms.usage !== undefined) return this.terms.usage;
    const { inputTokens, tokensPerSec } = this.#generation;
    if (tokensPerSec === 0) return undefined;
    const said = ((performance.now() - this.#beganAtMs) / 1000) * tokensPerSec;
    const output = Math.min(this.#most, Math.floor(said));
    const isText = this.terms.modalities.every((each) => each === 'text');
    return {
      total_tokens: inputTokens + output,
      input_tokens: inputTokens,
      output_tokens: output,
      input_token_details: { text_tokens: inputTokens, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: isText
        ? { text_tokens: output, audio_tokens: 0 }
        : { text_tokens: 0, audio_tokens: output },
    };
  }

  /** The response as events repeat it. */
  describe(status: string, usage: unknown = null): object {
    const { id, conversationId, maxOutputTokens, modalities } = this.terms;
    return {
      object: 'realtime.response',
      id,
      status,
      status_details: null,
      output: [],
      conversation_id: conversationId,
      output_modalities: modalities,
      max_output_tokens: maxOutputTokens,
      usage,
      metadata: null,
    };
  }

  get #most(): number {
    const { maxOutputTokens } = this.terms;
    return maxOutputTokens === 'inf' ? MAX_TOKENS : Math.min(MAX_TOKENS, maxOutputTokens);
  }
}
