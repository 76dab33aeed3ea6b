import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { closeServer, listen, portOf } from './http-server.ts';

export type TokenMode =
  | 'ok'
  | 'rate limited'
  | 'broken'
  | 'garbage'
  | 'wrong shape'
  | 'hang'
  | 'hang in body'
  | 'reset'
  | 'huge'
  | 'redirect';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What one API answers, strictly: with the provider's real error messages, including the key that they repeat. */
interface TokenApi {
  readonly path: string;
  answer(request: IncomingMessage, url: URL, text: string, token: string): Answer;
  refuse(status: number, code: string, message: string): Answer;
  readonly wrongShape: unknown;
}

interface RecordedRequest {
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** A provider on a free port that issues tokens as Gemini or AssemblyAI do, checks strictly, and can misbehave. */
export class TestTokenProvider {
  mode: TokenMode = 'ok';
  readonly apiKey: string;
  readonly requests: RecordedRequest[] = [];
  /** The tokens that the provider issued, in order. */
  readonly tokens: string[] = [];
  readonly #api: TokenApi;
  readonly #server: Server;

  private constructor(name: keyof typeof apis, apiKey: string) {
    this.apiKey = apiKey;
    this.#api = apis[name](apiKey);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(name: keyof typeof apis, apiKey = 'key-test-4f1c0ffee'): Promise<TestTokenProvider> {
    const provider = new TestTokenProvider(name, apiKey);
    await listen(provider.#server);
    return provider;
  }

  /** Without a path, as operators may write it. */
  get origin(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    const url = new URL(request.url ?? '', this.origin);
    this.requests.push({ url, headers: request.headers, body: parse(text) });
    response.setHeader('content-type', 'application/json');
    switch (this.mode) {
      case 'hang':
        return;
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'garbage':
        return void response.end(`<html>leaked and ${this.apiKey}`);
      case 'wrong shape':
        return void response.end(JSON.stringify(this.#api.wrongShape));
      case 'huge':
        return void response.end(JSON.stringify({ name: 'leaked', padding: 'x'.repeat(1024 * 1024) }));
      case 'redirect':
        return void response.writeHead(307, { location: this.origin + this.#api.path }).end();
      case 'rate limited':
        return send(response, this.#api.refuse(429, 'RESOURCE_EXHAUSTED', `Quota of ${this.apiKey} exceeded.`));
      case 'broken':
        return send(response, this.#api.refuse(500, 'INTERNAL', 'An internal error has occurred.'));
      case 'ok':
      case 'hang in body':
        break;
    }
    const token = `leaked${this.tokens.length}`;
    const answer =
      url.pathname === this.#api.path
        ? this.#api.answer(request, url, text, token)
        : this.#api.refuse(404, 'NOT_FOUND', `${url.pathname} was not found.`);
    if (this.mode === 'hang in body') return void response.write(JSON.stringify(answer.body).slice(0, 10));
    if (answer.status === 200) this.tokens.push(token);
    send(response, answer);
  }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status).end(JSON.stringify(body));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of Google's SDK. */
const geminiBody = z.strictObject({
  uses: z.int().min(0),
  expireTime: z.iso.datetime(),
  newSessionExpireTime: z.iso.datetime(),
  fieldMask: z.string().regex(/^[a-z_.]+(,[a-z_.]+)*$/),
  bidiGenerateContentSetup: z.strictObject({
    model: z.string().regex(/^(models|tunedModels)\/[\w.-]+$/),
    generationConfig: z.strictObject({
      responseModalities: z.array(z.enum(['AUDIO', 'TEXT'])),
      speechConfig: z.strictObject({
        voiceConfig: z.strictObject({ prebuiltVoiceConfig: z.strictObject({ voiceName: z.string() }) }),
        languageCode: z.string().optional(),
      }),
      thinkingConfig: z.strictObject({ thinkingLevel: z.enum(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']) }).optional(),
    }),
    realtimeInputConfig: z
      .strictObject({
        automaticActivityDetection: z
          .strictObject({
            endOfSpeechSensitivity: z.enum(['END_SENSITIVITY_LOW', 'END_SENSITIVITY_HIGH']).optional(),
            silenceDurationMs: z.int().optional(),
          })
          .optional(),
        activityHandling: z.enum(['NO_INTERRUPTION', 'START_OF_ACTIVITY_INTERRUPTS']).optional(),
      })
      .optional(),
    inputAudioTranscription: z.strictObject({}).optional(),
    outputAudioTranscription: z.strictObject({}).optional(),
    systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: z.string() })) }).optional(),
    tools: z
      .array(
        z.strictObject({
          functionDeclarations: z.array(
            z.strictObject({
              name: z.string().regex(/^[A-Za-z_][\w.-]{0,63}$/),
              description: z.string().optional(),
              parametersJsonSchema: z.record(z.string(), z.unknown()).optional(),
            }),
          ),
        }),
      )
      .optional(),
  }),
});

const TWENTY_HOURS_MS = 20 * 3_600_000;

const seconds = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const assemblyAiQuery = z.strictObject({
  expires_in_seconds: seconds(1, 600),
  max_session_duration_seconds: seconds(60, 10_800).optional(),
});

const apis = {
  gemini: (apiKey: string): TokenApi => ({
    path: '/v1alpha/auth_tokens',
    wrongShape: { name: 'leaked without its prefix' },
    refuse: refuseAsGoogle,
    answer({ method, headers }, _url, text, token) {
      if (method !== 'POST') return refuseAsGoogle(404, 'NOT_FOUND', 'Not found.');
      const key = headers['x-goog-api-key']?.toString() ?? '';
      if (key !== apiKey)
        return refuseAsGoogle(400, 'INVALID_ARGUMENT', `API key ${key} not valid.`, [
          { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', message: `API key ${key} not valid.` },
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
        ]);
      const { data, error } = geminiBody.safeParse(parse(text));
      if (data === undefined) return refuseAsGoogle(400, 'INVALID_ARGUMENT', error.message);
      const [end, open] = [Date.parse(data.expireTime), Date.parse(data.newSessionExpireTime)];
      if (open > end || end >= Date.now() + TWENTY_HOURS_MS)
        return refuseAsGoogle(400, 'INVALID_ARGUMENT', 'expire_time is out of range.');
      return { status: 200, body: { name: `auth_tokens/${token}` } };
    },
  }),
  assemblyai: (apiKey: string): TokenApi => {
    const refuse = (status: number, _code: string, message: string): Answer => ({ status, body: { error: message } });
    return {
      path: '/v1/token',
      wrongShape: { token: 'leaked', expires_in_seconds: 'soon' },
      refuse,
      answer({ method, headers }, { searchParams }, _text, token) {
        if (method !== 'GET') return refuse(405, '', 'Method not allowed');
        if (headers.authorization !== `Bearer ${apiKey}`) return refuse(401, '', `Unknown ${headers.authorization}`);
        const { data, error } = assemblyAiQuery.safeParse(Object.fromEntries(searchParams));
        if (data === undefined) return refuse(400, '', error.message);
        return { status: 200, body: { token, expires_in_seconds: data.expires_in_seconds } };
      },
    };
  },
};

function refuseAsGoogle(status: number, code: string, message: string, details?: readonly object[]): Answer {
  return { status, body: { error: { code: status, message, status: code, details } } };
}
