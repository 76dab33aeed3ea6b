import type { Clock } from '../kernel/clock.ts';
import type { UpstreamProvider } from './contract.ts';
import { LocalProvider } from './local.ts';
import { OpenAiProvider } from './openai.ts';

export interface ProviderOptions {
  readonly provider: 'openai' | 'local';
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Milliseconds for one mint. */
  readonly timeoutMs: number;
  readonly clientSecretTtlSec: number;
  readonly clock?: Clock | undefined;
}

/** @throws Error when the provider lacks what it needs */
export function selectProvider(options: ProviderOptions): UpstreamProvider {
  if (options.provider === 'local') return new LocalProvider(options);
  if (options.apiKey === undefined) throw new Error('the openai provider needs a key');
  return new OpenAiProvider({ ...options, apiKey: options.apiKey });
}
