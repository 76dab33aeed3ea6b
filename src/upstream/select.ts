import type { Config } from '../../config/config.ts';
import { findWebRtc } from '../../packages/echo/web-rtc.ts';
import type { Clock } from '../kernel/time.ts';
import { AssemblyAiProvider } from './assemblyai.ts';
import { AzureProvider } from './azure.ts';
import { isBrokered, type BrokeredProvider, type UpstreamProvider } from './contract.ts';
import { EchoProvider } from './echo.ts';
import { GeminiProvider } from './gemini.ts';
import { LiveKitProvider } from './livekit.ts';
import { LocalProvider } from './local.ts';
import { OpenAiLiveProvider } from './openai-live.ts';
import { OpenAiProvider } from './openai.ts';

/** The settings of all providers; each takes those that it needs. */
export type ProviderOptions = Config['upstream'] & { readonly clock?: Clock | undefined };

interface Row {
  /** Its credentials, in the order of the variable. */
  readonly keys: (options: ProviderOptions) => readonly string[] | undefined;
  readonly make: (options: ProviderOptions, key: string | undefined) => UpstreamProvider;
}

const providers: Readonly<Record<ProviderOptions['provider'], Row>> = {
  local: { keys: () => undefined, make: (options) => new LocalProvider(options) },
  openai: {
    keys: ({ apiKeys }) => apiKeys,
    make: (options, apiKey) => new OpenAiProvider({ ...options, apiKey }),
  },
  'openai-live': {
    keys: ({ apiKeys }) => apiKeys,
    make: (options, apiKey) => new OpenAiLiveProvider({ ...options, apiKey }),
  },
  azure: {
    keys: ({ azureApiKeys }) => azureApiKeys,
    make: (options, azureApiKey) => new AzureProvider({ ...options, azureApiKey }),
  },
  gemini: {
    keys: ({ geminiApiKeys }) => geminiApiKeys,
    make: (options, geminiApiKey) => new GeminiProvider({ ...options, geminiApiKey }),
  },
  assemblyai: {
    keys: ({ assemblyAiApiKeys }) => assemblyAiApiKeys,
    make: (options, assemblyAiApiKey) => new AssemblyAiProvider({ ...options, assemblyAiApiKey }),
  },
  // Any key of a LiveKit project can end any of its rooms, so no further credentials are needed here.
  livekit: { keys: () => undefined, make: (options) => new LiveKitProvider(options) },
};

/** The configured provider, with its first credential. @throws Error when it lacks what it needs */
export function selectProvider(options: ProviderOptions): UpstreamProvider {
  const { keys, make } = providers[options.provider];
  return make(options, keys(options)?.[0]);
}

/** The same provider with each further credential, where its calls are brokered: for calls that were opened with them. */
export function selectOthers(options: ProviderOptions): readonly BrokeredProvider[] {
  const { keys, make } = providers[options.provider];
  const [, ...further] = keys(options) ?? [];
  return further.map((key) => make(options, key)).filter(isBrokered);
}

/**
 * The configured provider, ready for calls. In development a simulated provider answers them with an echo where it can. Never in production: the
 * echo's WebRTC library numbers some of its encrypted records twice, and its dependencies are old.
 * @throws Error when it lacks what it needs
 */
export function openProvider(options: ProviderOptions, mode: Config['mode']): UpstreamProvider {
  const provider = selectProvider(options);
  const loadWebRtc = provider.simulated && mode === 'development' ? findWebRtc() : undefined;
  return loadWebRtc === undefined ? provider : new EchoProvider(loadWebRtc, options);
}
