import { z } from 'zod';
import { systemClock, type Clock } from '../kernel/time.ts';
import type { Minted, MintRequest, UpstreamProvider } from './contract.ts';
import {
  capDuration,
  openAccount,
  readReply,
  request,
  makeUpstreamSessionId,
  type Account,
  type ProviderSettings,
} from './provider-http.ts';

export interface AssemblyAiOptions extends ProviderSettings {
  /** ASSEMBLYAI_API_KEY. */
  readonly assemblyAiApiKey: string | undefined;
  /** Default `https://agents.assemblyai.com/v1`. An address without a path gets `/v1`. */
  readonly baseUrl?: string | undefined;
}

/** The provider allows no longer time to open a call. */
const MAX_TTL_SEC = 600;

const mintReply = z.object({ token: z.string().min(1), expires_in_seconds: z.int().positive() });

/**
 * AssemblyAI's voice agents: the browser opens its call with a token that works once and limits the call's duration, counted from when it is opened.
 * Model, voice, instructions and tools are not in the token: the page sets them. Nobody else can end or hear the call.
 */
export class AssemblyAiProvider implements UpstreamProvider {
  readonly name = 'assemblyai';
  readonly capabilities = {
    call: 'token',
    hangUp: 'none',
    lockConfig: false,
    capDuration: { minSec: 60, maxSec: 10_800 },
    meter: 'none',
    converses: false,
    tools: true,
    providerMaxSec: 10_800,
  } as const;
  readonly simulated = false;
  readonly callOrigins = ['wss://agents.assemblyai.com'];
  readonly #account: Account;
  readonly #ttlSec: number;
  readonly #clock: Clock;

  /** @throws Error without a key, or for a key that cannot be sent as a header */
  constructor({ assemblyAiApiKey, baseUrl, timeoutMs, clientSecretTtlSec, clock = systemClock }: AssemblyAiOptions) {
    this.#account = openAccount({
      title: 'AssemblyAI',
      baseUrl: baseUrl ?? 'https://agents.assemblyai.com',
      path: '/v1',
      keyHeader: ['authorization', 'Bearer '],
      key: assemblyAiApiKey,
      timeoutMs,
    });
    this.#ttlSec = Math.min(clientSecretTtlSec, MAX_TTL_SEC);
    this.#clock = clock;
  }

  async mint(asked: MintRequest): Promise<Minted> {
    const now = this.#clock.now();
    const query = new URLSearchParams({
      expires_in_seconds: String(this.#ttlSec),
      max_session_duration_seconds: String(capDuration(this.capabilities.capDuration, asked)),
    });
    const reply = await request(this.#account, {
      method: 'GET',
      path: `/token?${query.toString()}`,
      headers: { accept: 'application/json' },
      traceparent: asked.traceparent,
      signal: asked.signal,
      wanted: 'client secret',
    });
    const data = readReply(this.#account, 'client secret', reply, mintReply);
    return {
      sessionId: makeUpstreamSessionId(),
      value: data.token,
      expiresAtSec: Math.floor(now / 1000) + data.expires_in_seconds,
    };
  }
}
