import { z } from 'zod';
import type { TokenClasses } from '../protocol/price.ts';

/** More tokens than one response can have: a larger number is an error of the sender. */
const MAX_TOKENS = 100_000_000;
const count = z.int().min(0).max(MAX_TOKENS).nullish();

const inputDetails = z.object({
  text_tokens: count,
  audio_tokens: count,
  image_tokens: count,
  cached_tokens: count,
  cached_tokens_details: z.object({ text_tokens: count, audio_tokens: count, image_tokens: count }).nullish(),
});
const tokenUsage = z.object({
  input_tokens: count,
  output_tokens: count,
  input_token_details: inputDetails.nullish(),
  output_token_details: z.object({ text_tokens: count, audio_tokens: count }).nullish(),
});
type TokenUsage = z.infer<typeof tokenUsage>;

/**
 * The tokens of a response, or of a transcription, by billing class. Cached tokens are part of the input; those without a modality are taken from
 * text first. Output beyond the reported text and audio is reasoning. Other tokens without a modality count in the most expensive class of their
 * direction.
 * @param unnamedOutput the class for output without a modality, where text or audio is not reported
 * @returns undefined for impossible usage, which is dropped whole
 */
export function readTokens(
  usage: unknown,
  unnamedOutput: 'audioOut' | 'textOut' = 'audioOut',
): TokenClasses | undefined {
  const { data } = tokenUsage.safeParse(usage);
  if (data === undefined) return undefined;
  const input = readInput(data);
  const output = readOutput(data, unnamedOutput);
  return input === undefined || output === undefined ? undefined : { ...input, ...output };
}

type InputClasses = Omit<TokenClasses, 'textOut' | 'audioOut'>;

function readInput({ input_tokens, input_token_details }: TokenUsage): InputClasses | undefined {
  const details = input_token_details ?? {};
  const cached = details.cached_tokens_details ?? {};
  const textCached = cached.text_tokens ?? 0;
  const audioCached = cached.audio_tokens ?? 0;
  const imageCached = cached.image_tokens ?? 0;
  // A class that is not reported holds at least its cached tokens.
  const text = details.text_tokens ?? textCached;
  const audio = details.audio_tokens ?? audioCached;
  const image = details.image_tokens ?? imageCached;
  const unnamed = missing(input_tokens, text + audio + image);
  const unnamedCached = missing(details.cached_tokens, textCached + audioCached + imageCached);
  if (input_tokens == null && input_token_details == null) return undefined;
  if (unnamed === undefined || unnamedCached === undefined) return undefined;
  return withoutCached(
    { textIn: text - textCached, imageIn: image - imageCached, audioIn: audio + unnamed - audioCached },
    { textCached, imageCached, audioCached },
    unnamedCached,
  );
}

/** How many tokens of a total have no modality; undefined where the parts exceed the total. */
function missing(total: number | null | undefined, named: number): number | undefined {
  const rest = (total ?? named) - named;
  return rest < 0 ? undefined : rest;
}

/** Assigns cached tokens without a modality to text, then images, then audio, in ascending order of what caching saves. */
function withoutCached(
  fresh: Pick<TokenClasses, 'textIn' | 'imageIn' | 'audioIn'>,
  cached: Pick<TokenClasses, 'textCached' | 'imageCached' | 'audioCached'>,
  unnamed: number,
): InputClasses | undefined {
  if (Math.min(...Object.values(fresh)) < 0) return undefined;
  const fromText = Math.min(unnamed, fresh.textIn);
  const fromImages = Math.min(unnamed - fromText, fresh.imageIn);
  const fromAudio = unnamed - fromText - fromImages;
  if (fromAudio > fresh.audioIn) return undefined;
  return {
    textIn: fresh.textIn - fromText,
    imageIn: fresh.imageIn - fromImages,
    audioIn: fresh.audioIn - fromAudio,
    textCached: cached.textCached + fromText,
    imageCached: cached.imageCached + fromImages,
    audioCached: cached.audioCached + fromAudio,
  };
}

function readOutput(
  { output_tokens, output_token_details }: TokenUsage,
  unnamedOutput: 'audioOut' | 'textOut',
): Pick<TokenClasses, 'textOut' | 'audioOut'> | undefined {
  const { text_tokens, audio_tokens } = output_token_details ?? {};
  const classes = { textOut: text_tokens ?? 0, audioOut: audio_tokens ?? 0 };
  const unnamed = missing(output_tokens, classes.textOut + classes.audioOut);
  if (unnamed === undefined || (output_tokens == null && output_token_details == null)) return undefined;
  // If both are reported, the rest is reasoning, which is billed as text.
  const unnamedClass = text_tokens != null && audio_tokens != null ? 'textOut' : unnamedOutput;
  return { ...classes, [unnamedClass]: classes[unnamedClass] + unnamed };
}

const durationUsage = z.object({ type: z.literal('duration'), seconds: z.number().min(0).max(86_400) });

/** Milliseconds of usage that is billed by time; undefined for other usage, and for impossible times. */
export function readDuration(usage: unknown): number | undefined {
  const { data } = durationUsage.safeParse(usage);
  return data === undefined ? undefined : Math.ceil(data.seconds * 1000);
}
