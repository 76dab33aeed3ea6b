import { expect, test } from 'vitest';
import { readConfig } from '../../../config/config.ts';
import { answererOf, titleOf } from '../../../src/upstream/enforcement.ts';
import type { BrokeredProvider } from '../../../src/upstream/contract.ts';
import { EchoProvider } from '../../../src/upstream/echo.ts';
import { LocalProvider } from '../../../src/upstream/local.ts';
import { openProvider, selectOthers, selectProvider } from '../../../src/upstream/select.ts';

const request = { model: 'gpt-realtime', voice: 'marin', tools: [], subjectHash: 'ab12' };
const { upstream, calls } = readConfig({});
const options = { ...upstream, ...calls };

test('The simulated provider gives secrets that say so and live as long as asked', async () => {
  const local = new LocalProvider({ clientSecretTtlSec: 60, clock: { now: () => 1_700_000_000_500 } });
  const first = await local.mint({ ...request, signal: new AbortController().signal });
  const second = await local.mint({ ...request, signal: new AbortController().signal });
  expect(first).toEqual({
    sessionId: expect.stringMatching(/^sess_[\w-]{24}$/) as string,
    value: expect.stringMatching(/^ek_local_[\w-]{24}$/) as string,
    expiresAtSec: 1_700_000_060,
  });
  expect(second.value).not.toBe(first.value);
  expect(local.simulated).toBe(true);
});

test('The simulated provider mints nothing for a caller that gave up', async () => {
  const local = new LocalProvider({ clientSecretTtlSec: 60 });
  await expect(local.mint({ ...request, signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'timeout' });
});

test('The provider is chosen by name', () => {
  expect(selectProvider({ ...options, provider: 'local' }).name).toBe('local');
  expect(selectProvider({ ...options, provider: 'openai', apiKeys: ['sk-1'] })).toMatchObject({
    name: 'openai',
    simulated: false,
  });
});

test('Each provider that brokers is chosen by name', () => {
  const azure = { azureEndpoint: 'https://x.openai.azure.com', azureApiKeys: ['k'] };
  for (const provider of ['openai', 'openai-live', 'azure'] as const)
    expect(selectProvider({ ...options, ...azure, apiKeys: ['sk-1'], provider })).toMatchObject({
      name: provider,
      capabilities: { call: 'brokered' },
    });
});

test('Each provider whose calls only browsers open is chosen by name', () => {
  const keys = { geminiApiKeys: ['k'], assemblyAiApiKeys: ['k'] };
  for (const provider of ['gemini', 'assemblyai'] as const) {
    expect(selectProvider({ ...options, ...keys, provider })).toMatchObject({
      name: provider,
      simulated: false,
      capabilities: { call: 'token' },
    });
    expect(() => selectProvider({ ...options, provider })).toThrow(/key/);
  }
});

test('The first key opens calls; the others only hear and end those that they opened', () => {
  const installationKey = Buffer.alloc(32);
  const openAi = (...apiKeys: string[]) => ({ ...options, provider: 'openai', apiKeys }) as const;
  const rotated = openAi('sk-new', 'sk-old', 'sk-older');
  const of = (key: string) => (selectProvider(openAi(key)) as BrokeredProvider).fingerprint(installationKey);
  expect((selectProvider(rotated) as BrokeredProvider).fingerprint(installationKey)).toBe(of('sk-new'));
  expect(selectOthers(rotated).map((one) => one.fingerprint(installationKey))).toEqual([of('sk-old'), of('sk-older')]);
  expect(selectOthers({ ...options, provider: 'gemini', geminiApiKeys: ['a', 'b'] })).toEqual([]);
  expect(selectOthers({ ...options, provider: 'local' })).toEqual([]);
});

test('OpenAI without a key is refused when it is chosen, not at the first session', () => {
  expect(() => selectProvider({ ...options, provider: 'openai' })).toThrow(/key/);
});

test.each([
  ['development', 'brokered'],
  ['test', 'none'],
  ['production', 'none'],
] as const)('In %s the calls of the local provider are: %s', (mode, call) => {
  const provider = openProvider({ ...options, provider: 'local' }, mode);
  expect(provider).toMatchObject({ name: 'local', simulated: true, capabilities: { call } });
});

test.each([
  ['a model', { provider: 'openai' }, 'production', 'model', 'openai'],
  ['an echo', { provider: 'local' }, 'development', 'echo', 'local (an echo, no model)'],
  ['nobody', { provider: 'local' }, 'production', 'nobody', 'local (simulated)'],
] as const)('Who answers calls is told: %s', (_who, chosen, mode, answerer, title) => {
  const provider = openProvider({ ...options, apiKeys: ['sk-1'], ...chosen }, mode);
  expect([answererOf(provider), titleOf(provider)]).toEqual([answerer, title]);
});

test('An echo whose library cannot be loaded is a provider that is away, and says what is missing', async () => {
  const broken = (): Promise<never> => Promise.reject(new Error("Cannot find package 'aes-js'"));
  const echo = new EchoProvider(broken, { clientSecretTtlSec: 60 });
  const { signal } = new AbortController();
  const call = echo.createCall({ ...request, signal, offerSdp: '', dataChannel: 'open', maxOutputTokens: undefined });
  await expect(call).rejects.toMatchObject({ name: 'UpstreamFault', kind: 'unreachable' });
  await expect(call).rejects.toThrow(/WebRTC library.*'aes-js'/);
});
