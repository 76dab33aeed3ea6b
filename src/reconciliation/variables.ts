import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

export const reconciliation = {
  adminKey: variable(
    'OPENAI_ADMIN_KEY',
    s.credential,
    { unset: 'unset: nothing is compared' },
    "an admin key for reading usage, with which Switchboard compares its count with OpenAI's every night; used for nothing else",
    { example: 'sk-admin-...', secret: 'all' },
  ),
  baseUrl: variable(
    'OPENAI_ADMIN_BASE_URL',
    s.url(['http', 'https']),
    { unset: "the provider's own" },
    'the address of the usage API; for tests and gateways',
    { example: 'https://api.openai.com', secret: 'in address' },
  ),
};
