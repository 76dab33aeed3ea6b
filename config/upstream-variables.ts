import * as s from './schemas.ts';
import { variable } from './variable.ts';

/** The variables of the upstream model provider, as variables.ts describes them. */
export const upstream = {
  'Upstream model provider': {
    upstream: {
      provider: variable(
        'UPSTREAM_PROVIDER',
        s.choice(['openai', 'openai-live', 'azure', 'gemini', 'assemblyai', 'local']),
        { unset: 'openai when OPENAI_API_KEY is set, else local (simulated)' },
        'the upstream model provider',
        { example: 'openai' },
      ),
      apiKey: variable('OPENAI_API_KEY', s.credential, { unset: 'unset' }, 'provider key', {
        example: 'sk-...',
        production: true,
        neededBy: 'UPSTREAM_PROVIDER=openai|openai-live',
        secret: 'all',
      }),
      azureEndpoint: variable(
        'AZURE_OPENAI_ENDPOINT',
        s.url(['http', 'https']),
        { unset: 'unset' },
        'the address of an Azure OpenAI resource',
        {
          example: 'https://example.openai.azure.com',
          neededBy: 'UPSTREAM_PROVIDER=azure',
          secret: 'in address',
        },
      ),
      azureApiKey: variable('AZURE_OPENAI_API_KEY', s.credential, { unset: 'unset' }, 'key of that resource', {
        example: 'key',
        neededBy: 'UPSTREAM_PROVIDER=azure',
        secret: 'all',
      }),
      geminiApiKey: variable('GEMINI_API_KEY', s.credential, { unset: 'unset' }, 'key of the Gemini API', {
        example: 'key',
        neededBy: 'UPSTREAM_PROVIDER=gemini',
        secret: 'all',
      }),
      assemblyAiApiKey: variable('ASSEMBLYAI_API_KEY', s.credential, { unset: 'unset' }, 'key of AssemblyAI', {
        example: 'key',
        neededBy: 'UPSTREAM_PROVIDER=assemblyai',
        secret: 'all',
      }),
      baseUrl: variable(
        'UPSTREAM_BASE_URL',
        s.url(['http', 'https']),
        { unset: "the provider's own" },
        'the transport API address',
        { example: 'https://api.openai.com', secret: 'in address' },
      ),
      timeoutMs: variable(
        'UPSTREAM_TIMEOUT_MS',
        s.integer(100, 60_000),
        '8000',
        'one request to the provider, in milliseconds',
      ),
      clientSecretTtlSec: variable(
        'CLIENT_SECRET_TTL_SEC',
        s.integer(10, 7200),
        '60',
        'life of a client secret, asked of providers that allow it',
      ),
      socketUrl: variable(
        'UPSTREAM_SOCKET_URL',
        s.url(['ws', 'wss']),
        { unset: 'the address of the calls' },
        'where the sidebands of calls connect; for tests and gateways',
        { example: 'wss://api.openai.com', secret: 'in address' },
      ),
      liveSideband: variable(
        'LIVE_SIDEBAND',
        s.choice(['close-only', 'hold']),
        'close-only',
        'openai-live: whether calls are heard all the time, or connected to only to close them',
      ),
    },
  },
};
