import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AssemblyAiProvider } from '../../../src/upstream/assemblyai.ts';
import { TestTokenProvider } from '../../support/token-provider.ts';
import { describeMint, mintRequest } from './mint-suite.ts';

describeMint(
  'assemblyai',
  ({ apiKey, ...options }) => new AssemblyAiProvider({ ...options, assemblyAiApiKey: apiKey, clientSecretTtlSec: 60 }),
  { status: 401 },
);

describe('A token of AssemblyAI', () => {
  let standIn: TestTokenProvider;

  beforeEach(async () => {
    standIn = await TestTokenProvider.start('assemblyai');
  });

  afterEach(() => standIn.close());

  const assemblyAi = (clientSecretTtlSec = 60): AssemblyAiProvider =>
    new AssemblyAiProvider({
      assemblyAiApiKey: standIn.apiKey,
      baseUrl: standIn.origin,
      timeoutMs: 5_000,
      clientSecretTtlSec,
      clock: { now: () => 1_700_000_000_500 },
    });

  const asked = (): object => Object.fromEntries(standIn.requests[0]?.url.searchParams ?? []);

  test('must be used soon, and bounds the call to the session', async () => {
    const { value, expiresAtSec } = await assemblyAi().mint(mintRequest({ maxDurationSec: 900 }));
    expect(asked()).toEqual({ expires_in_seconds: '60', max_session_duration_seconds: '900' });
    expect({ value, expiresAtSec }).toEqual({ value: standIn.tokens[0], expiresAtSec: 1_700_000_060 });
  });

  test.each([
    [undefined, '10800'],
    [86_400, '10800'],
    [30, '60'],
  ])('that is to bound a call to %s seconds bounds it to %s', async (maxDurationSec, seconds) => {
    await assemblyAi().mint(mintRequest({ maxDurationSec }));
    expect(asked()).toMatchObject({ max_session_duration_seconds: seconds });
  });

  test('lives no longer than the provider allows', async () => {
    const { expiresAtSec } = await assemblyAi(7200).mint(mintRequest());
    expect(asked()).toMatchObject({ expires_in_seconds: '600' });
    expect(expiresAtSec).toBe(1_700_000_600);
  });
});
