import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GeminiProvider } from '../../../src/upstream/gemini.ts';
import { TestTokenProvider } from '../../support/token-provider.ts';
import { faultOf } from './brokered-suite.ts';
import { describeMint, mintRequest } from './mint-suite.ts';

describeMint(
  'gemini',
  ({ apiKey, ...options }) => new GeminiProvider({ ...options, geminiApiKey: apiKey, clientSecretTtlSec: 60 }),
  { status: 400, type: 'INVALID_ARGUMENT', code: 'API_KEY_INVALID' },
);

describe('A token of Gemini', () => {
  let standIn: TestTokenProvider;
  const nowMs = Date.now();
  const at = (sec: number): string => new Date(nowMs + sec * 1000).toISOString();

  beforeEach(async () => {
    standIn = await TestTokenProvider.start('gemini');
  });

  afterEach(() => standIn.close());

  const gemini = (clientSecretTtlSec = 60): GeminiProvider =>
    new GeminiProvider({
      geminiApiKey: standIn.apiKey,
      baseUrl: standIn.origin,
      timeoutMs: 5_000,
      clientSecretTtlSec,
      clock: { now: () => nowMs },
    });

  test('serves once, must be used soon, and ends with the session', async () => {
    const { expiresAtSec } = await gemini().mint(mintRequest({ maxDurationSec: 900 }));
    expect(standIn.requests[0]?.body).toMatchObject({
      uses: 1,
      newSessionExpireTime: at(60),
      expireTime: at(900),
    });
    expect(expiresAtSec).toBe(Math.floor(nowMs / 1000 + 60));
  });

  test.each([
    [undefined, 71_999],
    [86_400, 71_999],
    [0, 1],
    [90.7, 90],
  ])('that is to last %s seconds lasts %i', async (maxDurationSec, seconds) => {
    await gemini().mint(mintRequest({ maxDurationSec }));
    expect(standIn.requests[0]?.body).toMatchObject({ expireTime: at(seconds) });
  });

  test('never outlasts its session while it waits to be used', async () => {
    const { expiresAtSec } = await gemini(7200).mint(mintRequest({ maxDurationSec: 120 }));
    expect(standIn.requests[0]?.body).toMatchObject({ newSessionExpireTime: at(120), expireTime: at(120) });
    expect(expiresAtSec).toBe(Math.floor(nowMs / 1000 + 120));
  });

  test('fixes model, voice, instructions and tools, and keeps private fields of tools at home', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [
      { kind: 'http_tool', name: 'weather', description: 'Looks', parameters, url: 'https://internal' },
      { kind: 'mcp', name: 'bare' },
    ];
    await gemini().mint(mintRequest({ instructions: 'Be kind.', tools }));
    expect(standIn.requests[0]?.body).toMatchObject({
      fieldMask: 'model,generation_config,system_instruction,tools',
      bidiGenerateContentSetup: {
        model: 'models/a-model',
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } } },
        },
        systemInstruction: { parts: [{ text: 'Be kind.' }] },
        tools: [
          {
            functionDeclarations: [
              { name: 'weather', description: 'Looks', parametersJsonSchema: parameters },
              { name: 'bare' },
            ],
          },
        ],
      },
    });
    expect(JSON.stringify(standIn.requests[0]?.body)).not.toContain('internal');
  });

  test('locks instructions and tools that it does not have', async () => {
    await gemini().mint(mintRequest());
    const body = standIn.requests[0]?.body as { bidiGenerateContentSetup: object; fieldMask: string };
    expect(Object.keys(body.bidiGenerateContentSetup)).toEqual(['model', 'generationConfig']);
    expect(body.fieldMask).toContain('system_instruction,tools');
  });

  test('is for a model by its whole name as well', async () => {
    await gemini().mint(mintRequest({ model: 'tunedModels/ours' }));
    expect(standIn.requests[0]?.body).toMatchObject({ bidiGenerateContentSetup: { model: 'tunedModels/ours' } });
  });

  test('that is refused says why in a word', async () => {
    const fault = await faultOf(gemini().mint(mintRequest({ model: 'not a model' })));
    expect(fault).toMatchObject({ kind: 'refused', facts: { status: 400, type: 'INVALID_ARGUMENT' } });
    expect(fault.blamesRequest).toBe(true);
  });
});
