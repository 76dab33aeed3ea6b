import { z } from 'zod';
import { modelOfSnapshot, NO_TOKENS, TOKEN_CLASSES, type TokenClasses } from '../protocol/price.ts';
import { UpstreamFault, type ProviderDay, type ProviderUsageReader } from './contract.ts';
import { openAccount, request, type Account } from './provider-http.ts';

/** Most pages of one day: more would not be an answer to this query. */
const MAX_PAGES = 50;
/** Most retries while the provider takes no more requests, each after the time that it names, and the longest such wait. */
const MAX_WAITS = 5;
const MAX_WAIT_MS = 60_000;

const count = z.int().min(0);

/** Per model. What is cached, and of which kind, is in fields that an older API does not have. */
const completions = z.object({
  model: z.string(),
  input_tokens: count,
  output_tokens: count,
  input_text_tokens: count,
  input_cached_text_tokens: count,
  input_audio_tokens: count,
  input_cached_audio_tokens: count,
  input_image_tokens: count.default(0),
  input_cached_image_tokens: count.default(0),
  output_text_tokens: count,
  output_audio_tokens: count,
});

const costs = z.object({ amount: z.object({ value: z.coerce.number(), currency: z.literal('usd') }) });

const pageOf = <T extends z.ZodType>(result: T) =>
  z.object({
    data: z.array(z.object({ results: z.array(result) })),
    has_more: z.boolean(),
    next_page: z.string().nullable(),
  });

export interface OpenAiUsageOptions {
  /** OPENAI_ADMIN_KEY: reads usage, and is used for nothing else. */
  readonly adminKey: string;
  /** OPENAI_ADMIN_BASE_URL; default `https://api.openai.com/v1`. */
  readonly baseUrl: string | undefined;
  /** OPENAI_PROJECT: undefined covers the whole organization, including others' usage. */
  readonly project: string | undefined;
  readonly timeoutMs: number;
  readonly wait: (ms: number) => Promise<unknown>;
}

/** What OpenAI reports for a day, from its usage and costs APIs (platform.openai.com/docs/api-reference/usage). */
export class OpenAiUsage implements ProviderUsageReader {
  readonly upstream = 'openai';
  readonly providers = ['openai', 'openai-live'] as const;
  readonly #account: Account;
  readonly #options: OpenAiUsageOptions;

  /** @throws Error for a key that cannot be sent as a header */
  constructor(options: OpenAiUsageOptions) {
    const { adminKey, baseUrl = 'https://api.openai.com', timeoutMs } = options;
    this.#options = options;
    const keyHeader = ['authorization', 'Bearer '] as const;
    this.#account = openAccount({ title: 'OpenAI', baseUrl, path: '/v1', keyHeader, key: adminKey, timeoutMs });
  }

  /** @param fromMs the day's first instant, in UTC @throws UpstreamFault, `malformed` for an answer that does not say what was asked */
  async read(fromMs: number, toMs: number): Promise<ProviderDay> {
    const times = { start_time: String(fromMs / 1000), end_time: String(toMs / 1000), bucket_width: '1d' };
    const usage = await this.#pages('/organization/usage/completions', { ...times, group_by: 'model' }, completions);
    const billed = await this.#pages('/organization/costs', { ...times, group_by: 'line_item' }, costs);
    const models = new Map<string, TokenClasses>();
    for (const result of usage) {
      const model = modelOfSnapshot(result.model);
      models.set(model, plus(models.get(model) ?? NO_TOKENS, classesOf(result)));
    }
    const dollars = billed.reduce((sum, { amount }) => sum + amount.value, 0);
    return { models, microDollars: Math.round(dollars * 1_000_000) };
  }

  async #pages<T extends z.ZodType>(path: string, asked: Record<string, string>, result: T): Promise<z.infer<T>[]> {
    const { project } = this.#options;
    const query = new URLSearchParams({ ...asked, ...(project !== undefined && { project_ids: project }) });
    const results: z.infer<T>[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { data, error } = pageOf(result).safeParse(await this.#ask(`${path}?${query.toString()}`));
      if (data === undefined) {
        const [issue] = error.issues;
        throw new UpstreamFault('malformed', 'OpenAI answered with usage that cannot be read', {
          detail: issue?.path.join('.'),
        });
      }
      results.push(...data.data.flatMap((bucket) => bucket.results as z.infer<T>[]));
      if (!data.has_more || data.next_page === null) return results;
      query.set('page', data.next_page);
    }
    throw new UpstreamFault('malformed', `OpenAI has more than ${MAX_PAGES} pages of usage for one day`);
  }

  async #ask(path: string): Promise<unknown> {
    for (let waits = 0; ; waits += 1) {
      try {
        const signal = AbortSignal.timeout(this.#options.timeoutMs);
        return JSON.parse(
          (await request(this.#account, { method: 'GET', path, signal, wanted: 'page of usage' })).text,
        );
      } catch (fault) {
        if (fault instanceof SyntaxError)
          throw new UpstreamFault('malformed', 'OpenAI answered with usage that is no JSON');
        const seconds = fault instanceof UpstreamFault ? fault.retryAfterSec : undefined;
        if (seconds === undefined || waits === MAX_WAITS) throw fault;
        await this.#options.wait(Math.min(seconds * 1000, MAX_WAIT_MS));
      }
    }
  }
}

/**
 * References disagree on whether cached tokens are also counted in their kind: the sum of all input shows which it is. An answer that fits neither
 * reading is refused.
 * @throws UpstreamFault
 */
function classesOf(result: z.infer<typeof completions>): TokenClasses {
  const { input_text_tokens: text, input_audio_tokens: audio, input_image_tokens: image } = result;
  const textCached = result.input_cached_text_tokens;
  const audioCached = result.input_cached_audio_tokens;
  const imageCached = result.input_cached_image_tokens;
  const cached = textCached + audioCached + imageCached;
  const isApart = text + audio + image + cached === result.input_tokens;
  if (!isApart && text + audio + image !== result.input_tokens)
    throw new UpstreamFault('malformed', 'OpenAI answered with usage that does not add up', { detail: 'input_tokens' });
  const { output_text_tokens: textOut, output_audio_tokens: audioOut } = result;
  if (textOut + audioOut !== result.output_tokens)
    throw new UpstreamFault('malformed', 'OpenAI answered with usage that does not add up', {
      detail: 'output_tokens',
    });
  const without = (whole: number, part: number): number => (isApart ? whole : whole - part);
  return {
    textIn: without(text, textCached),
    textCached,
    textOut,
    audioIn: without(audio, audioCached),
    audioCached,
    audioOut,
    imageIn: without(image, imageCached),
    imageCached,
  };
}

function plus(a: TokenClasses, b: TokenClasses): TokenClasses {
  return Object.fromEntries(TOKEN_CLASSES.map((each) => [each, a[each] + b[each]])) as TokenClasses;
}
