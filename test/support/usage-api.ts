import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { NO_TOKENS, type TokenClasses } from '../../src/protocol/price.ts';
import { closeServer, listen, portOf } from './http-server.ts';

const DAY_SEC = 86_400;

export interface BilledDay {
  readonly models: Readonly<Record<string, Partial<TokenClasses>>>;
  readonly dollars: number;
}

/**
 * The parts of OpenAI's usage and costs APIs that are used here. Strict: any other request, and any other key, is refused.
 */
export class UsageApi {
  readonly adminKey = 'sk-admin-1c0ffee';
  readonly project = 'proj_voice';
  /** What is billed, by day; usage of the rest of the organization is added unless a request asks for the project alone. */
  readonly days = new Map<string, BilledDay>();
  /** Whether the input tokens of a modality exclude cached ones, include them, or are not reported at all, as in an older API. */
  counts: 'apart' | 'inclusive' | 'old' = 'apart';
  /** Results per page. */
  pageSize = 7;
  /** Answers to the next requests, in place of the real ones. */
  readonly faults: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }[] =
    [];
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  static async start(): Promise<UsageApi> {
    const api = new UsageApi();
    await listen(api.#server);
    return api;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  #serve({ method, url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const answer = (status: number, body: unknown, more: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...more });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    this.asked.push(url);
    const fault = this.faults.shift();
    if (fault !== undefined) return answer(fault.status, fault.body ?? {}, fault.headers);
    if (headers.authorization !== `Bearer ${this.adminKey}`)
      return answer(401, { error: { type: 'invalid_request_error' } });
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const {
      start_time: start,
      end_time: end,
      bucket_width: width,
      group_by: group,
      ...rest
    } = Object.fromEntries(searchParams);
    const [from, to] = [Number(start), Number(end)];
    const isDay = from % DAY_SEC === 0 && to - from === DAY_SEC && width === '1d';
    const isKnown = Object.keys(rest).every((name) => name === 'project_ids' || name === 'page');
    if (method !== 'GET' || !isDay || !isKnown) return answer(400, { error: { type: 'invalid_request_error' } });
    const day = this.days.get(new Date(from * 1000).toISOString().slice(0, 10)) ?? { models: {}, dollars: 0 };
    const others = rest['project_ids'] === this.project ? [] : [othersOf(this.counts)];
    const results =
      pathname === '/v1/organization/usage/completions' && group === 'model'
        ? [...Object.entries(day.models).map(([model, tokens]) => resultOf(model, tokens, this.counts)), ...others]
        : pathname === '/v1/organization/costs' && group === 'line_item'
          ? costsOf(day.dollars)
          : undefined;
    if (results === undefined) return answer(404, { error: { type: 'invalid_request_error' } });
    const at = Number(rest['page'] ?? 0);
    const more = at + this.pageSize < results.length;
    answer(200, {
      object: 'page',
      data: [{ object: 'bucket', start_time: from, end_time: to, results: results.slice(at, at + this.pageSize) }],
      has_more: more,
      next_page: more ? String(at + this.pageSize) : null,
    });
  }
}

function othersOf(counts: UsageApi['counts']): object {
  return resultOf('gpt-of-others', { textIn: 1000 }, counts);
}

function resultOf(model: string, given: Partial<TokenClasses>, counts: UsageApi['counts']): object {
  const tokens = { ...NO_TOKENS, ...given };
  const { textIn, textCached, textOut, audioIn, audioCached, audioOut, imageIn, imageCached } = tokens;
  const cached = textCached + audioCached + imageCached;
  const whole = {
    object: 'organization.usage.completions.result',
    input_tokens: textIn + audioIn + imageIn + cached,
    input_cached_tokens: cached,
    output_tokens: textOut + audioOut,
    num_model_requests: 1,
    project_id: null,
    model,
    batch: false,
  };
  if (counts === 'old') return whole;
  const kept =
    counts === 'inclusive'
      ? { text: textCached, audio: audioCached, image: imageCached }
      : { text: 0, audio: 0, image: 0 };
  return {
    ...whole,
    input_text_tokens: textIn + kept.text,
    input_cached_text_tokens: textCached,
    input_audio_tokens: audioIn + kept.audio,
    input_cached_audio_tokens: audioCached,
    input_image_tokens: imageIn + kept.image,
    input_cached_image_tokens: imageCached,
    output_text_tokens: textOut,
    output_audio_tokens: audioOut,
  };
}

/** Costs by line item, as they are billed; here two items. */
function costsOf(dollars: number): object[] {
  const half = Math.round(dollars * 500_000) / 1_000_000;
  return [half, dollars - half].map((value, n) => ({
    object: 'organization.costs.result',
    amount: { value, currency: 'usd' },
    line_item: `line ${n}`,
    project_id: null,
  }));
}
