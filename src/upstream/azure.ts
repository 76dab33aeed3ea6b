import type { deadline } from '../kernel/async.ts';
import { openAccount, type ProviderSettings } from './provider-http.ts';
import { RealtimeProvider } from './realtime-provider.ts';

export interface AzureOptions extends ProviderSettings {
  /** AZURE_OPENAI_ENDPOINT: the address of the resource. */
  readonly azureEndpoint: string | undefined;
  /** AZURE_OPENAI_API_KEY. */
  readonly azureApiKey: string | undefined;
  readonly socketUrl?: string | undefined;
  readonly after?: typeof deadline | undefined;
}

/** OpenAI's realtime API in a resource of Azure; models are deployments. */
export class AzureProvider extends RealtimeProvider {
  /** @throws Error without an address or a key, or for a key that cannot be sent as a header */
  constructor({ azureEndpoint, azureApiKey, socketUrl, timeoutMs, clientSecretTtlSec, after }: AzureOptions) {
    if (azureEndpoint === undefined) throw new Error('the address of the Azure resource is missing');
    super({
      name: 'azure',
      account: openAccount({
        title: 'Azure OpenAI',
        baseUrl: azureEndpoint,
        socketUrl,
        path: '/openai/v1',
        keyHeader: ['api-key', ''],
        key: azureApiKey,
        timeoutMs,
      }),
      callUrl: new URL('/openai/v1/realtime/calls', azureEndpoint).href,
      clientSecretTtlSec,
      // `transcriber`: on Azure only deployments transcribe, and their owner chooses their names.
      // `createQuery`: the filter hides most events from the page, including the tool calls that a page with a data channel needs.
      transcriber: null,
      createQuery: ({ dataChannel }) => (dataChannel === 'none' ? '?webrtcfilter=on' : ''),
      after,
    });
  }
}
