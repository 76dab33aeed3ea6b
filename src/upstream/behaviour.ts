import { isObject } from '../kernel/post.ts';
import {
  BEHAVIOUR_FIELDS,
  languageName,
  transcriptionOf,
  withTranscriber,
  type Behaviour,
} from '../protocol/behaviour.ts';
import type { UpstreamProvider } from './contract.ts';

type Field = keyof Behaviour;
type Value<F extends Field> = NonNullable<Behaviour[F]>;
type Part = Readonly<Record<string, unknown>>;

/**
 * What a field becomes at a provider: a part of its session; or nothing, because Switchboard does it (`ours`) or the provider always does (`always`).
 * A field without a row is not supported there.
 */
type Row<F extends Field> = 'ours' | 'always' | ((value: Value<F>, all: Behaviour) => Part);
type Rows = { readonly [F in Field]?: Row<F> };

/** The base language, which is all that most providers know: `de` of `de-AT`. */
const baseOf = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? tag;

/** Null where only the page decides whose turn it is. */
function turnDetection({ detect, eagerness, silenceMs, interrupt }: Value<'turns'>): Part | null {
  if (detect === 'push') return null;
  return {
    type: detect === 'silence' ? 'server_vad' : 'semantic_vad',
    ...(eagerness !== undefined && { eagerness }),
    ...(silenceMs !== undefined && { silence_duration_ms: silenceMs }),
    ...(interrupt !== undefined && { interrupt_response: interrupt }),
  };
}

function describeTranscription(behaviour: Behaviour): Part | null {
  const { language } = behaviour;
  const { model, words = [] } = transcriptionOf(behaviour) ?? {};
  if (model === undefined) return null;
  return {
    model,
    ...(language !== undefined && { language: baseOf(language) }),
    ...(words.length > 0 && { prompt: words.join(', ') }),
  };
}

const microphones = { near: { type: 'near_field' }, far: { type: 'far_field' }, off: null } as const;

/** OpenAI's realtime API. */
const realtime: Rows = {
  greeting: 'ours',
  wrapUp: 'ours',
  silence: 'ours',
  tellAi: 'ours',
  // Set in the instructions, and with the transcription.
  language: 'ours',
  turns: (value) => ({ audio: { input: { turn_detection: turnDetection(value) } } }),
  transcribe: (_value, all) => ({ audio: { input: { transcription: describeTranscription(all) } } }),
  noise: (value) => ({ audio: { input: { noise_reduction: microphones[value] } } }),
  speed: (speed) => ({ audio: { output: { speed } } }),
  effort: (effort) => ({ reasoning: { effort } }),
  extra: (value) => value,
};

const levels = { minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM', high: 'HIGH' } as const;
const sensitivities = { low: 'END_SENSITIVITY_LOW', high: 'END_SENSITIVITY_HIGH' } as const;

function geminiTurns({ detect, eagerness, silenceMs, interrupt }: Value<'turns'>): Part {
  const detection = {
    ...(detect === 'push' && { disabled: true }),
    ...((eagerness === 'low' || eagerness === 'high') && { endOfSpeechSensitivity: sensitivities[eagerness] }),
    ...(silenceMs !== undefined && { silenceDurationMs: silenceMs }),
  };
  return {
    realtimeInputConfig: {
      automaticActivityDetection: detection,
      ...(interrupt === false && { activityHandling: 'NO_INTERRUPTION' }),
    },
  };
}

const providers: Readonly<Record<string, Rows>> = {
  openai: realtime,
  azure: realtime,
  // The echo has no model: it says what Switchboard has it say, and takes turns and transcription from the call. The rest makes no difference.
  local: {
    ...Object.fromEntries(BEHAVIOUR_FIELDS.map((field) => [field, 'always'])),
    greeting: 'ours',
    wrapUp: 'ours',
    silence: 'ours',
  },
  'openai-live': { language: 'ours', tellAi: 'ours', transcribe: 'always', extra: (value) => value },
  gemini: {
    tellAi: 'ours',
    language: (languageCode) => ({ generationConfig: { speechConfig: { languageCode } } }),
    turns: geminiTurns,
    transcribe: (asked): Part => (asked === false ? {} : { inputAudioTranscription: {}, outputAudioTranscription: {} }),
    effort: (effort) => ({ generationConfig: { thinkingConfig: { thinkingLevel: levels[effort] } } }),
    extra: (value) => value,
  },
  assemblyai: { tellAi: 'ours', transcribe: 'always' },
  // The room's agent speaks, which is a separate program.
  livekit: { tellAi: 'ours' },
};

/** The fields of a behaviour that a provider does not support. */
export function unsupportedOf(
  { name, transcriber }: Pick<UpstreamProvider, 'name' | 'transcriber'>,
  behaviour: Behaviour,
): readonly string[] {
  const rows = providers[name] ?? {};
  const unknown = BEHAVIOUR_FIELDS.filter((field) => behaviour[field] !== undefined && rows[field] === undefined);
  const isNameless = transcriptionOf(behaviour) && withTranscriber(behaviour, transcriber)?.transcribe === undefined;
  return isNameless === true ? [...unknown, 'transcribe (without the model that does it)'] : unknown;
}

/** The parts that a behaviour adds to a provider's session. @param name of the provider */
export function describeBehaviour(name: string, behaviour: Behaviour | null | undefined): Part {
  if (behaviour === null || behaviour === undefined) return {};
  const rows = providers[name] ?? {};
  const parts = BEHAVIOUR_FIELDS.map((field): Part => {
    const [value, row] = [behaviour[field], rows[field]];
    return value === undefined || typeof row !== 'function'
      ? {}
      : (row as Exclude<Row<Field>, string>)(value, behaviour);
  });
  return parts.reduce(merged, {});
}

/** An agent's instructions, beginning with the language that it should speak. */
export function instructionsWith(instructions: string | undefined, behaviour: Behaviour | null | undefined): string {
  const { language } = behaviour ?? {};
  if (language === undefined) return instructions ?? '';
  return [
    `Speak ${languageName(language) ?? language} unless the visitor asks for another language.`,
    instructions ?? '',
  ]
    .join('\n')
    .trim();
}

/** Merges one object into another, field by field; values that are not objects replace what is there. */
export function merged(into: Part, part: Part): Part {
  const both = Object.entries(part).map(([name, value]) => {
    const before = into[name];
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value] as const;
  });
  return { ...into, ...Object.fromEntries(both) };
}
