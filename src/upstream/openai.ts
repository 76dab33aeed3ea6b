import { z } from 'zod';
import { UpstreamFault } from './contract.ts';
import type { Minted, MintRequest, UpstreamFaultKind, UpstreamProvider } from './contract.ts';
import { postJson, PostFailure } from '../kernel/post-json.ts';
import type { JsonReply, PostFailureKind } from '../kernel/post-json.ts';
import { makeUpstreamSessionId } from './session-id.ts';

export interface OpenAiOptions {
  /** OPENAI_API_KEY. */
  readonly apiKey: string | undefined;
  /** Default `https://api.openai.com/v1`. An address without a path gets `/v1`. */
  readonly baseUrl?: string | undefined;
  /** Milliseconds for one mint, the reply's body included. */
  readonly timeoutMs: number;
  /** Seconds that a secret lives, 10..7200. */
  readonly clientSecretTtlSec: number;
}

/** A reply repeats the whole session (instructions, tools): some tens of kilobytes at most. */
const MAX_REPLY_BYTES = 256 * 1024;

const mintReply = z.object({
  value: z.string().min(1),
  expires_at: z.int().positive(),
  // The id is a nicety of the reply; without a usable one we make our own.
  session: z
    .object({ id: z.string().regex(/^sess_[\w-]{1,200}$/) })
    .optional()
    .catch(undefined),
});

/** Machine-readable words only: the message of a 401 quotes the key. */
const word = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .optional()
  .catch(undefined);
const errorReply = z.object({ error: z.object({ type: word, code: word }) });

/** Mints client secrets at OpenAI's realtime API, or at anything that speaks it (`POST /realtime/client_secrets`). */
export class OpenAiProvider implements UpstreamProvider {
  readonly name = 'openai';
  readonly simulated = false;
  readonly callOrigins = ['https://api.openai.com'];
  /** A secret is a bearer token for a call whose id only the browser learns; nothing holds that call from here. */
  readonly #options: OpenAiOptions;
  readonly #apiKey: string;
  readonly #url: URL;

  /** @throws Error without a key, and for one that could not be sent as a header */
  constructor(options: OpenAiOptions) {
    const { apiKey = '' } = options;
    // The HTTP client's own error about a bad header value would show the key.
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new Error('the provider key must be printable ASCII without spaces');
    this.#apiKey = apiKey;
    this.#options = options;
    this.#url = mintUrl(options.baseUrl ?? 'https://api.openai.com/v1');
  }

  async mint(request: MintRequest): Promise<Minted> {
    return readReply(await this.#post(request));
  }

  async #post(request: MintRequest): Promise<JsonReply> {
    try {
      return await postJson({
        url: this.#url,
        headers: { authorization: `Bearer ${this.#apiKey}`, 'openai-safety-identifier': request.subjectHash },
        body: {
          expires_after: { anchor: 'created_at', seconds: this.#options.clientSecretTtlSec },
          session: describeSession(request),
        },
        timeoutMs: this.#options.timeoutMs,
        maxReplyBytes: MAX_REPLY_BYTES,
        signal: request.signal,
      });
    } catch (error) {
      throw error instanceof PostFailure ? asFault(error) : error;
    }
  }
}

const failures = {
  timeout: ['timeout', 'OpenAI did not answer in time'],
  unreachable: ['unreachable', 'OpenAI could not be reached'],
  too_large: ['malformed', 'OpenAI answered far more than a client secret'],
} as const satisfies Record<PostFailureKind, readonly [UpstreamFaultKind, string]>;

function asFault({ kind, detail }: PostFailure): UpstreamFault {
  const [faultKind, what] = failures[kind];
  return new UpstreamFault(faultKind, what, { detail });
}

function mintUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = `${path === '' ? '/v1' : path}/realtime/client_secrets`;
  return url;
}

function describeSession({ model, voice, instructions, tools }: MintRequest): object {
  return {
    type: 'realtime',
    model,
    ...(instructions ? { instructions } : {}),
    audio: { output: { voice } },
    ...(tools.length > 0 ? { tools: tools.map(asFunctionTool) } : {}),
  };
}

/** Only what the model needs: a tool's further fields (addresses, headers) are for whoever runs it, and may be secret. */
function asFunctionTool({ name, description, parameters }: MintRequest['tools'][number]): object {
  return { type: 'function', name, description, parameters: parameters ?? { type: 'object' } };
}

function readReply({ status, headers, body }: JsonReply): Minted {
  const requestId = word.parse(headers.get('x-request-id') ?? undefined);
  if (status < 200 || status > 299) {
    const { data } = errorReply.safeParse(body);
    throw new UpstreamFault('refused', 'OpenAI refused the request', { status, ...data?.error, requestId });
  }
  const reply = mintReply.safeParse(body);
  if (!reply.success) {
    const detail = reply.error.issues.map(({ path }) => path.join('.') || 'body').join(' ');
    throw new UpstreamFault('malformed', 'OpenAI answered no client secret', { status, requestId, detail });
  }
  const { value, expires_at, session } = reply.data;
  return { sessionId: session?.id ?? makeUpstreamSessionId(), value, expiresAtSec: expires_at };
}
