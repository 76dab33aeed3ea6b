/** The tokens of one response. Cached tokens are not included in the others. */
export interface ResponseTokens {
  readonly textIn: number;
  readonly textCached: number;
  readonly textOut: number;
  readonly audioIn: number;
  readonly audioCached: number;
  readonly audioOut: number;
}

/** Tokens of the instructions, which every response reads again. */
const TEXT = 40;
/** Characters per token. */
const CHARACTERS = 4;
const IN_PER_SEC = 10;
const OUT_PER_SEC = 20;

/** The usage of one call's responses. As with a model, each response reads everything said before again, from the cache. */
export class ConversationUsage {
  #heard = 0;

  /** @returns the tokens of one written response */
  addText(text: string, maxOutputTokens: number | undefined): ResponseTokens {
    const textIn = Math.ceil(text.length / CHARACTERS);
    return {
      ...this.add(0, 0),
      textIn: TEXT + textIn,
      textCached: 0,
      textOut: Math.min(textIn, maxOutputTokens ?? Infinity),
    };
  }

  /** @returns the tokens of one spoken response: it hears `ms` milliseconds and repeats them */
  add(ms: number, maxOutputTokens: number | undefined): ResponseTokens {
    const audioIn = Math.ceil((ms / 1000) * IN_PER_SEC);
    const audioOut = Math.min(Math.ceil((ms / 1000) * OUT_PER_SEC), maxOutputTokens ?? Infinity);
    const audioCached = this.#heard;
    const isFirst = audioCached === 0;
    this.#heard += audioIn + audioOut;
    return {
      textIn: isFirst ? TEXT : 0,
      textCached: isFirst ? 0 : TEXT,
      textOut: 0,
      audioIn,
      audioCached,
      audioOut,
    };
  }
}

/** The usage for a `response.done` event, where the input includes cached tokens. */
export function describeUsage(tokens: ResponseTokens): object {
  const text = tokens.textIn + tokens.textCached;
  const audio = tokens.audioIn + tokens.audioCached;
  const output = tokens.textOut + tokens.audioOut;
  return {
    total_tokens: text + audio + output,
    input_tokens: text + audio,
    output_tokens: output,
    input_token_details: {
      text_tokens: text,
      audio_tokens: audio,
      image_tokens: 0,
      cached_tokens: tokens.textCached + tokens.audioCached,
      cached_tokens_details: { text_tokens: tokens.textCached, audio_tokens: tokens.audioCached, image_tokens: 0 },
    },
    output_token_details: { text_tokens: tokens.textOut, audio_tokens: tokens.audioOut },
  };
}
