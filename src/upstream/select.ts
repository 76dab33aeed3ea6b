import type { Config } from '../../config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import { AssemblyAiProvider } from './assemblyai.ts';
import { AzureProvider } from './azure.ts';
import type { UpstreamProvider } from './contract.ts';
import { EchoProvider } from './echo/provider.ts';
import { findWebRtc } from './echo/web-rtc.ts';
import { GeminiProvider } from './gemini.ts';
import { LocalProvider } from './local.ts';
import { OpenAiLiveProvider } from './openai-live.ts';
import { OpenAiProvider } from './openai.ts';

/** The settings of all providers; each takes what it uses. */
export type ProviderOptions = Config['upstream'] & { readonly clock?: Clock | undefined };

const providers: Readonly<Record<ProviderOptions['provider'], (options: ProviderOptions) => UpstreamProvider>> = {
  local: (options) => new LocalProvider(options),
  openai: (options) => new OpenAiProvider(options),
  'openai-live': (options) => new OpenAiLiveProvider(options),
  azure: (options) => new AzureProvider(options),
  gemini: (options) => new GeminiProvider(options),
  assemblyai: (options) => new AssemblyAiProvider(options),
};

/** The provider of the settings. @throws Error when it lacks what it needs */
export function selectProvider(options: ProviderOptions): UpstreamProvider {
  return providers[options.provider](options);
}

/** The provider of the settings, ready for calls: a simulated one answers them with an echo where it can. @throws Error when it lacks what it needs */
export function openProvider(options: ProviderOptions, mode: Config['mode']): UpstreamProvider {
  const provider = selectProvider(options);
  const loadWebRtc = provider.simulated ? findWebRtc(mode) : undefined;
  return loadWebRtc === undefined ? provider : new EchoProvider(loadWebRtc, options);
}
