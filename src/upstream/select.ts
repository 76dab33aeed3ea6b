import type { Config } from '../../config/config.ts';
import type { Clock } from '../kernel/clock.ts';
import type { UpstreamProvider } from './contract.ts';
import { LocalProvider } from './local.ts';
import { OpenAiProvider } from './openai.ts';

/** The settings of all providers; each takes what it uses. */
export type ProviderOptions = Config['upstream'] & { readonly clock?: Clock | undefined };

const providers: Readonly<Record<ProviderOptions['provider'], (options: ProviderOptions) => UpstreamProvider>> = {
  local: (options) => new LocalProvider(options),
  openai: (options) => new OpenAiProvider(options),
};

/** The provider of the settings. @throws Error when it lacks what it needs */
export function selectProvider(options: ProviderOptions): UpstreamProvider {
  return providers[options.provider](options);
}
