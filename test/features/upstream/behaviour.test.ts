import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BEHAVIOUR_FIELDS, type Behaviour } from '../../../src/protocol/behaviour.ts';
import { unsupportedOf } from '../../../src/upstream/behaviour.ts';
import { GeminiProvider } from '../../../src/upstream/gemini.ts';
import { TestTokenProvider } from '../../support/token-provider.ts';
import { realtimeProviders, StandInBench } from './benches.ts';
import { callRequest } from './brokered-suite.ts';
import { mintRequest } from './mint-suite.ts';

const voice = { output: { voice: 'marin' } };
const heard = (input: object) => ({ audio: { ...voice, input } });

/** What OpenAI's realtime API is told for each field, besides model, voice and tools. */
const realtime: readonly (readonly [Behaviour, object])[] = [
  [{ greeting: true, wrapUp: true, tellAi: false }, {}],
  [{ silence: { askAfterSec: 30, say: 'Are you there?' } }, {}],
  [{ language: 'de-AT' }, { instructions: 'Speak Austrian German unless the visitor asks for another language.' }],
  [{ turns: {} }, heard({ turn_detection: { type: 'semantic_vad' } })],
  [
    { turns: { detect: 'semantic', eagerness: 'low', interrupt: false } },
    heard({ turn_detection: { type: 'semantic_vad', eagerness: 'low', interrupt_response: false } }),
  ],
  [
    { turns: { detect: 'silence', silenceMs: 700 } },
    heard({ turn_detection: { type: 'server_vad', silence_duration_ms: 700 } }),
  ],
  [{ turns: { detect: 'push' } }, heard({ turn_detection: null })],
  [{ transcribe: { model: 'gpt-transcribe' } }, heard({ transcription: { model: 'gpt-transcribe' } })],
  [{ transcribe: false }, heard({ transcription: null })],
  [
    { transcribe: { model: 'whisper-1', words: ['Lascaux', 'Altamira'] } },
    heard({ transcription: { model: 'whisper-1', prompt: 'Lascaux, Altamira' } }),
  ],
  [
    { transcribe: { model: 'gpt-transcribe' }, language: 'pt-BR' },
    {
      ...heard({ transcription: { model: 'gpt-transcribe', language: 'pt' } }),
      instructions: 'Speak Brazilian Portuguese unless the visitor asks for another language.',
    },
  ],
  [{ noise: 'near' }, heard({ noise_reduction: { type: 'near_field' } })],
  [{ noise: 'far' }, heard({ noise_reduction: { type: 'far_field' } })],
  [{ noise: 'off' }, heard({ noise_reduction: null })],
  [{ speed: 1.2 }, { audio: { output: { voice: 'marin', speed: 1.2 } } }],
  [{ effort: 'low' }, { reasoning: { effort: 'low' } }],
  [
    { extra: { tracing: 'auto', audio: { input: { noise_reduction: null } } } },
    { tracing: 'auto', ...heard({ noise_reduction: null }) },
  ],
];

describe.each(Object.keys(realtimeProviders))('At %s', (name) => {
  let bench: StandInBench;

  beforeEach(async () => {
    bench = await StandInBench.open(name);
  });

  afterEach(() => bench.close());

  test.each(realtime)('%j is told in a mint and in a call as the API has it', async (behaviour, expected) => {
    await bench.provider.mint(mintRequest({ behaviour, voice: 'marin' }));
    await bench.provider.createCall(
      callRequest(bench.offerSdp, { behaviour, voice: 'marin', instructions: undefined }),
    );
    const mint = bench.standIn.requests[0]?.body as { session: object };
    const call = bench.standIn.lastCall;
    const told = { type: 'realtime', model: expect.any(String), audio: voice, ...expected };
    expect(mint.session).toEqual(told);
    expect(call.session).toMatchObject(told);
  });

  test('the words of a greeting are told to the agent where its page asks for them, and to no agent that Switchboard asks', async () => {
    const asked = { behaviour: { greeting: 'Hello.', language: 'de' }, instructions: 'Be kind.' };
    await bench.provider.mint(mintRequest(asked));
    await bench.provider.createCall(callRequest(bench.offerSdp, asked));
    const mint = bench.standIn.requests[0]?.body as { session: { instructions: string } };
    const own = 'Speak German unless the visitor asks for another language.\nBe kind.';
    expect(mint.session.instructions).toBe(`${own}\nAs long as the visitor has said nothing, say exactly: Hello.`);
    expect(bench.standIn.lastCall.session['instructions']).toBe(own);
  });

  test('nothing is left out that is told of', () => {
    expect(unsupportedOf(bench.provider, { ...allOf(), transcribe: { model: 'whisper-1' } })).toEqual([]);
  });
});

describe('At Gemini', () => {
  test('the token fixes what the agent sets, and leaves the rest to the page', async () => {
    const standIn = await TestTokenProvider.start('gemini');
    const gemini = new GeminiProvider({
      geminiApiKey: standIn.apiKey,
      baseUrl: standIn.origin,
      timeoutMs: 5000,
      clientSecretTtlSec: 60,
    });
    await gemini.mint(
      mintRequest({
        behaviour: {
          language: 'de-AT',
          turns: { eagerness: 'low', interrupt: false },
          transcribe: {},
          effort: 'low',
        },
      }),
    );
    expect(standIn.requests[0]?.body).toMatchObject({
      bidiGenerateContentSetup: {
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { languageCode: 'de-AT', voiceConfig: {} },
          thinkingConfig: { thinkingLevel: 'LOW' },
        },
        realtimeInputConfig: {
          automaticActivityDetection: { endOfSpeechSensitivity: 'END_SENSITIVITY_LOW' },
          activityHandling: 'NO_INTERRUPTION',
        },
        inputAudioTranscription: {},
        outputAudioTranscription: {},
      },
      fieldMask:
        'model,generation_config,system_instruction,tools,realtime_input_config,input_audio_transcription,output_audio_transcription',
    });
    expect(unsupportedOf(gemini, allOf())).toEqual(['greeting', 'wrapUp', 'noise', 'speed', 'silence']);
    await standIn.close();
  });
});

test('Whoever has no model that writes visitors down unless the agent names one tells of an agent that names none', () => {
  const provider = { name: 'azure', transcriber: null };
  expect(unsupportedOf(provider, { transcribe: {} })).toEqual(['transcribe (without the model that does it)']);
  expect(unsupportedOf(provider, { transcribe: { model: 'whisper-1' } })).toEqual([]);
  expect(unsupportedOf(provider, { transcribe: false })).toEqual([]);
});

test.each([
  ['openai-live', ['greeting', 'wrapUp', 'turns', 'noise', 'speed', 'effort', 'silence']],
  ['assemblyai', ['greeting', 'wrapUp', 'language', 'turns', 'noise', 'speed', 'effort', 'silence', 'extra']],
  ['local', []],
])('What %s cannot do is told by name', (name, fields) => {
  expect(unsupportedOf({ name }, allOf())).toEqual(fields);
});

/** A behaviour that sets everything. */
function allOf(): Behaviour {
  const all: Behaviour = {
    greeting: true,
    wrapUp: true,
    language: 'en',
    turns: {},
    transcribe: {},
    noise: 'near',
    speed: 1,
    effort: 'low',
    silence: { askAfterSec: 30 },
    extra: {},
    tellAi: true,
  };
  expect(Object.keys(all)).toEqual(BEHAVIOUR_FIELDS);
  return all;
}
