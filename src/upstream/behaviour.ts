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
 * What a provider makes of a field: a part of its session, or nothing of its own, because Switchboard does it (`ours`) or because the
 * provider always does (`always`). A field without a row cannot be had there.
 */
type Row<F extends Field> = 'ours' | 'always' | ((value: Value<F>, all: Behaviour) => Part);
type Rows = { readonly [F in Field]?: Row<F> };

/** The base language, which is all that most providers know: `de` of `de-AT`. */
const baseOf = (tag: string): string => tag.split('-', 1)[0]?.toLowerCase() ?? tag;

/** Null where nobody but the page says when it is whose turn. */
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
  // In the instructions, and with the transcription.
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
  // The echo has no model: it greets, and is as it is.
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
  // What speaks is the agent of the room, a program of its own.
  livekit: { tellAi: 'ours' },
};

/** What of a behaviour a provider cannot do, by the names of its fields. */
export function unsupportedOf(
  { name, transcriber }: Pick<UpstreamProvider, 'name' | 'transcriber'>,
  behaviour: Behaviour,
): readonly string[] {
  const rows = providers[name] ?? {};
  const unknown = BEHAVIOUR_FIELDS.filter((field) => behaviour[field] !== undefined && rows[field] === undefined);
  const isNameless = transcriptionOf(behaviour) && withTranscriber(behaviour, transcriber)?.transcribe === undefined;
  return isNameless === true ? [...unknown, 'transcribe (without the model that does it)'] : unknown;
}

/** What a provider's session has of a behaviour, beside what it has without one. @param name of the provider */
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

/** The instructions of an agent, which begin with the language that it is to speak. */
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

/** One object into another, field by field; what is no object replaces what is there. */
export function merged(into: Part, part: Part): Part {
  const both = Object.entries(part).map(([name, value]) => {
    const before = into[name];
    return [name, isPart(before) && isPart(value) ? merged(before, value) : value] as const;
  });
  return { ...into, ...Object.fromEntries(both) };
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
