import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

const ROTATED = 'comma-separated for rotation: the first key opens calls, every key hangs up those that it opened';

/** The model provider: which one, its keys and addresses. */
export const upstream = {
  provider: variable(
    'UPSTREAM_PROVIDER',
    s.choice(['openai', 'openai-live', 'azure', 'gemini', 'assemblyai', 'livekit', 'local']),
    { unset: 'openai when OPENAI_API_KEY is set, else local (simulated)' },
    'the model provider: openai, openai-live, azure, gemini, assemblyai, livekit, or local (simulated, for development)',
    { example: 'openai' },
  ),
  apiKeys: variable('OPENAI_API_KEY', s.credentials, { unset: 'unset' }, `provider key; ${ROTATED}`, {
    example: 'sk-...',
    production: true,
    neededBy: 'UPSTREAM_PROVIDER=openai|openai-live',
    secret: 'all',
  }),
  openAiProject: variable(
    'OPENAI_PROJECT',
    s.credential,
    { unset: "unset: the key's own" },
    'project for calls and secrets, if the key may use several',
    { example: 'proj_...' },
  ),
  openAiOrganization: variable(
    'OPENAI_ORGANIZATION',
    s.credential,
    { unset: "unset: the key's own" },
    'organization for calls and secrets, if the key may use several',
    { example: 'org-...' },
  ),
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
  azureApiKeys: variable(
    'AZURE_OPENAI_API_KEY',
    s.credentials,
    { unset: 'unset' },
    `key of that resource; ${ROTATED}`,
    {
      example: 'key',
      neededBy: 'UPSTREAM_PROVIDER=azure',
      secret: 'all',
    },
  ),
  geminiApiKeys: variable('GEMINI_API_KEY', s.credentials, { unset: 'unset' }, `key of the Gemini API; ${ROTATED}`, {
    example: 'key',
    neededBy: 'UPSTREAM_PROVIDER=gemini',
    secret: 'all',
  }),
  assemblyAiApiKeys: variable(
    'ASSEMBLYAI_API_KEY',
    s.credentials,
    { unset: 'unset' },
    `key of AssemblyAI; ${ROTATED}`,
    {
      example: 'key',
      neededBy: 'UPSTREAM_PROVIDER=assemblyai',
      secret: 'all',
    },
  ),
  liveKitUrl: variable(
    'LIVEKIT_URL',
    s.url(['wss', 'https', 'ws', 'http']),
    { unset: 'unset' },
    'the address of a LiveKit server or project, used by pages and for its API',
    { example: 'wss://example.livekit.cloud', neededBy: 'UPSTREAM_PROVIDER=livekit', secret: 'in address' },
  ),
  liveKitApiKeys: variable(
    'LIVEKIT_API_KEY',
    s.credentials,
    { unset: 'unset' },
    'API key of LiveKit; comma-separated for rotation: the first signs, all verify webhooks',
    { example: 'APIexample', neededBy: 'UPSTREAM_PROVIDER=livekit', secret: 'all' },
  ),
  liveKitApiSecrets: variable(
    'LIVEKIT_API_SECRET',
    s.credentials,
    { unset: 'unset' },
    'the secrets of these keys, in the same order',
    { example: 'secret', neededBy: 'UPSTREAM_PROVIDER=livekit', secret: 'all' },
  ),
  baseUrl: variable(
    'UPSTREAM_BASE_URL',
    s.url(['http', 'https']),
    { unset: "the provider's own" },
    "the address of the provider's API, or of a gateway in front of it",
    { example: 'https://api.openai.com', secret: 'in address' },
  ),
  timeoutMs: variable(
    'UPSTREAM_TIMEOUT_MS',
    s.integer(100, 60_000),
    '8000',
    'milliseconds allowed for one request to the provider',
  ),
  clientSecretTtlSec: variable(
    'CLIENT_SECRET_TTL_SEC',
    s.integer(10, 7200),
    '60',
    'seconds that tickets are valid, and client secrets of providers that allow a choice',
  ),
  socketUrl: variable(
    'UPSTREAM_SOCKET_URL',
    s.url(['ws', 'wss']),
    { unset: 'the address for calls' },
    'the address to which sidebands of calls connect; for tests and gateways',
    { example: 'wss://api.openai.com', secret: 'in address' },
  ),
  liveSideband: variable(
    'LIVE_SIDEBAND',
    s.choice(['close-only', 'hold']),
    'close-only',
    'openai-live: hold keeps the sideband of each call connected; close-only connects it only to end the call',
  ),
};
