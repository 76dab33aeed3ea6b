import { isbotMatch } from 'isbot';
import { z } from 'zod';
import { postJson, PostFailure } from '../kernel/post.ts';
import type { BotDetector, Evidence, Verdict } from './contract.ts';

const nobody: Verdict = { isBot: false, isVerifiedBot: false, confidence: 0, provider: 'none' };

/** Admits everyone: for development, where curl and test runners are the visitors. */
const noDetector: BotDetector = { assess: () => nobody };

interface DetectorOptions {
  readonly provider: Verdict['provider'];
  readonly verdictUrl?: string | undefined;
  readonly verdictToken?: string | undefined;
}

/** The detector that judges without a challenge; for challenge providers the heuristic. @throws Error when the provider lacks a setting it needs */
export function selectDetector({ provider, verdictUrl, verdictToken }: DetectorOptions): BotDetector {
  if (provider === 'none') return noDetector;
  if (provider !== 'http') return heuristicDetector;
  if (verdictUrl === undefined) throw new Error('the http bot provider needs the address of a verdict service');
  return new HttpDetector({ url: verdictUrl, token: verdictToken });
}

/** Matching a long User-Agent takes time; whatever reveals a tool is within this many characters. */
const MAX_INSPECTED = 512;

/**
 * Judges by what a client says about itself. It stops crawlers, HTTP libraries and headless browsers that do not hide, and none
 * that do. Voice sessions are for people in browsers, so a tool that names itself (curl, python-requests) counts as a bot;
 * trusted back ends use service tokens, and development uses no detector. No bot is ever verified: a User-Agent proves nothing.
 */
export const heuristicDetector = {
  assess({ headers }: Pick<Evidence, 'headers'>): Verdict {
    const userAgent = headers['user-agent']?.trim() ?? '';
    // Every browser sends one; isbot has no verdict on a missing one.
    if (userAgent === '') return bot(0.9, 'no User-Agent');
    // The client hint remains when a headless Chrome is given an ordinary User-Agent.
    if (headers['sec-ch-ua']?.includes('HeadlessChrome')) return bot(0.95, 'Sec-CH-UA names HeadlessChrome');
    const match = isbotMatch(userAgent.slice(0, MAX_INSPECTED));
    if (match !== null) return bot(0.95, `User-Agent matches ${JSON.stringify(match.slice(0, 64))}`);
    return { isBot: false, isVerifiedBot: false, confidence: 0.5, provider: 'heuristic' };
  },
} satisfies BotDetector;

function bot(confidence: number, reason: string): Verdict {
  return { isBot: true, isVerifiedBot: false, confidence, provider: 'heuristic', reason };
}

interface HttpDetectorOptions {
  readonly url: string;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  /** Milliseconds for a verdict; default 1000. */
  readonly timeoutMs?: number | undefined;
}

const verdictReply = z.object({
  isBot: z.boolean(),
  isVerifiedBot: z.boolean(),
  confidence: z.number(),
  reason: z.string().max(200).optional().catch(undefined),
});

/** All other headers are passed on, because any may come from the client's bot-detection library. */
const withheld = new Set(['authorization', 'cookie', 'idempotency-key', 'proxy-authorization']);
const MAX_REPLY_BYTES = 16 * 1024;

/**
 * Asks a verdict service: `POST url` with `{requestId, ip, method, path, headers}`, answered by
 * `{isBot, isVerifiedBot, confidence, reason?}`. When the service is away, slow or not understood, callers are neither blocked nor admitted
 * blindly: the heuristic decides, and the verdict says that it is degraded.
 */
export class HttpDetector implements BotDetector {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;

  /** @throws Error when the token could not be sent as a header */
  constructor(options: HttpDetectorOptions) {
    if (options.token !== undefined && !/^[\x21-\x7e]+$/.test(options.token)) {
      throw new Error("the verdict service's token must be printable ASCII without spaces");
    }
    this.#url = new URL(options.url);
    this.#headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    this.#timeoutMs = options.timeoutMs ?? 1_000;
  }

  async assess(evidence: Evidence): Promise<Verdict> {
    const answer = await this.#ask(evidence);
    if (typeof answer !== 'string') return answer;
    const stoodIn = heuristicDetector.assess(evidence);
    const reason = stoodIn.reason === undefined ? answer : `${answer}; ${stoodIn.reason}`;
    return { ...stoodIn, degraded: true, reason };
  }

  /** The verdict, or a string that says why there is none. */
  async #ask(evidence: Evidence): Promise<Verdict | string> {
    try {
      const { status, body } = await postJson({
        url: this.#url,
        headers: this.#headers,
        body: evidenceBody(evidence),
        timeoutMs: this.#timeoutMs,
        maxReplyBytes: MAX_REPLY_BYTES,
      });
      if (status !== 200) return `verdict service answered ${status}`;
      const reply = verdictReply.safeParse(body);
      return reply.success ? withoutUndefined(reply.data) : 'verdict service answered no verdict';
    } catch (error) {
      if (error instanceof PostFailure) return `verdict service ${error.message}`;
      throw error;
    }
  }
}

function evidenceBody({ requestId, ip, method, path, headers }: Evidence): object {
  const passed = Object.entries(headers).filter(([name]) => !withheld.has(name.toLowerCase()));
  return { requestId, ip, method, path, headers: Object.fromEntries(passed) };
}

function withoutUndefined({ reason, ...rest }: z.infer<typeof verdictReply>): Verdict {
  return { ...rest, provider: 'http', ...(reason === undefined ? {} : { reason }) };
}
