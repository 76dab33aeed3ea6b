import { z } from 'zod';
import { systemClock, type Clock, iso } from '../kernel/time.ts';
import { parseJson } from '../kernel/post.ts';
import { describeBehaviour, merged } from './behaviour.ts';
import type { Minted, MintRequest, UpstreamProvider } from './contract.ts';
import {
  capDuration,
  malformed,
  openAccount,
  request,
  makeUpstreamSessionId,
  type Account,
  type ProviderSettings,
} from './provider-http.ts';

export interface GeminiOptions extends ProviderSettings {
  /** GEMINI_API_KEY. */
  readonly geminiApiKey: string | undefined;
  /** Default `https://generativelanguage.googleapis.com/v1alpha`. An address without a path gets `/v1alpha`. */
  readonly baseUrl?: string | undefined;
}

/** Fields that the page cannot set, whether given or not; the others (transcripts, resumption) are left to the page. */
const LOCKED_FIELDS = 'model,generation_config,system_instruction,tools';

const mintReply = z.object({ name: z.string().regex(/^auth_tokens\/[\w.-]{1,512}$/) });

/**
 * Google's Gemini Live API: the browser opens its call with a token that works once, fixes the session's setup, and limits its duration. Once the
 * token has expired, the provider takes no more messages of the call. Nobody else can end or hear it.
 */
export class GeminiProvider implements UpstreamProvider {
  readonly name = 'gemini';
  readonly capabilities = {
    call: 'token',
    hangUp: 'none',
    lockConfig: true,
    // The provider requires less than 20 hours.
    capDuration: { minSec: 1, maxSec: 71_999 },
    meter: 'none',
    converses: false,
    tools: true,
    providerMaxSec: null,
  } as const;
  readonly simulated = false;
  readonly callOrigins = ['wss://generativelanguage.googleapis.com'];
  readonly #account: Account;
  readonly #ttlSec: number;
  readonly #clock: Clock;

  /** @throws Error without a key, or for a key that cannot be sent as a header */
  constructor({ geminiApiKey, baseUrl, timeoutMs, clientSecretTtlSec, clock = systemClock }: GeminiOptions) {
    this.#account = openAccount({
      title: 'Gemini',
      baseUrl: baseUrl ?? 'https://generativelanguage.googleapis.com',
      path: '/v1alpha',
      keyHeader: ['x-goog-api-key', ''],
      key: geminiApiKey,
      timeoutMs,
    });
    this.#ttlSec = clientSecretTtlSec;
    this.#clock = clock;
  }

  async mint(asked: MintRequest): Promise<Minted> {
    const now = this.#clock.now();
    const capSec = capDuration(this.capabilities.capDuration, asked);
    const openMs = now + Math.min(this.#ttlSec, capSec) * 1000;
    const setup = describeSetup(asked);
    const reply = await request(this.#account, {
      path: '/auth_tokens',
      json: {
        uses: 1,
        expireTime: iso(now + capSec * 1000),
        newSessionExpireTime: iso(openMs),
        bidiGenerateContentSetup: setup,
        fieldMask: lockedFields(setup),
      },
      traceparent: asked.traceparent,
      signal: asked.signal,
      wanted: 'client secret',
    });
    const { data } = mintReply.safeParse(parseJson(reply.text));
    if (data === undefined) throw malformed(this.#account, 'client secret', reply, 'name');
    return { sessionId: makeUpstreamSessionId(), value: data.name, expiresAtSec: Math.floor(openMs / 1000) };
  }
}

/** A session in the form of the Live API. Tools contain only what the model needs: their other fields may be secret. */
function describeSetup({ model, voice, instructions, tools, behaviour }: MintRequest): object {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const setup = {
    model: model.includes('/') ? model : `models/${model}`,
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } },
    },
    ...(instructions ? { systemInstruction: { parts: [{ text: instructions }] } } : {}),
    ...(tools.length > 0 ? { tools: [{ functionDeclarations }] } : {}),
  };
  return merged(setup, describeBehaviour('gemini', behaviour));
}

/** The fields that the page cannot set: the fixed ones, and whatever else the agent sets. */
function lockedFields(setup: object): string {
  const further = Object.keys(setup).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return [...new Set([...LOCKED_FIELDS.split(','), ...further])].join(',');
}
