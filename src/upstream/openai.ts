import type { deadline } from '../kernel/async.ts';
import { openAccount, type Account, type ProviderSettings } from './provider-http.ts';
import { RealtimeProvider } from './realtime-provider.ts';

export interface OpenAiOptions extends ProviderSettings {
  /** OPENAI_API_KEY. */
  readonly apiKey: string | undefined;
  /** OPENAI_PROJECT and OPENAI_ORGANIZATION; undefined uses the key's own. */
  readonly openAiProject?: string | undefined;
  readonly openAiOrganization?: string | undefined;
  /** Default `https://api.openai.com/v1`. An address without a path gets `/v1`. */
  readonly baseUrl?: string | undefined;
  /** UPSTREAM_SOCKET_URL; undefined uses the base address. */
  readonly socketUrl?: string | undefined;
  readonly after?: typeof deadline | undefined;
}

/** OpenAI's realtime API, or anything that speaks it. */
export class OpenAiProvider extends RealtimeProvider {
  /** @throws Error without a key, or for a key that cannot be sent as a header */
  constructor(options: OpenAiOptions) {
    super({
      name: 'openai',
      account: openAiAccount(options),
      callUrl: 'https://api.openai.com/v1/realtime/calls',
      clientSecretTtlSec: options.clientSecretTtlSec,
      transcriber: 'gpt-transcribe',
      after: options.after,
    });
  }
}

/** @throws Error without a key, or for a key that cannot be sent as a header */
export function openAiAccount({
  apiKey,
  openAiProject,
  openAiOrganization,
  baseUrl,
  socketUrl,
  timeoutMs,
}: Omit<OpenAiOptions, 'clientSecretTtlSec'>): Account {
  return openAccount({
    title: 'OpenAI',
    baseUrl: baseUrl ?? 'https://api.openai.com',
    socketUrl,
    path: '/v1',
    keyHeader: ['authorization', 'Bearer '],
    key: apiKey,
    headers: { 'openai-organization': openAiOrganization, 'openai-project': openAiProject },
    timeoutMs,
  });
}
