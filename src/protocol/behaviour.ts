import { z } from 'zod';
import { integer, number } from './fields.ts';

const MAX_WORDS = 512;
const MAX_EXTRA_BYTES = 4096;
const NO_LANGUAGE = 'must be a BCP 47 tag such as de or pt-BR';

/**
 * The parts of the provider's session that Switchboard sets itself, by path. An `extra` that names one of them would undo what operators
 * rely on. Names are as `plainName` returns them, because Google accepts each name with and without underscores.
 */
const OWNED: ReadonlySet<string> = new Set([
  'model',
  'voice',
  'instructions',
  'tools',
  'toolchoice',
  'maxoutputtokens',
  'maxresponseoutputtokens',
  'truncation',
  'type',
  'prompt',
  'outputmodalities',
  'audio.output.voice',
  'client',
  'store',
  'systeminstruction',
  'generationconfig.maxoutputtokens',
  'generationconfig.responsemodalities',
  'generationconfig.speechconfig.voiceconfig',
]);

const plainName = (key: string): string => key.replaceAll('_', '').toLowerCase();

/** Paths in an object that name a part in `OWNED`. A non-object in the place of the parent of such a part counts too. */
function findOwned(value: object, place = '', path: readonly string[] = []): (readonly string[])[] {
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
    const [here, its] = [place + plainName(key), [...path, key]];
    if (OWNED.has(here)) return [its];
    const isAround = [...OWNED].some((owned) => owned.startsWith(`${here}.`));
    if (!isAround) return [];
    return typeof part === 'object' && part !== null && !Array.isArray(part) ? findOwned(part, `${here}.`, its) : [its];
  });
}

const languages = new Intl.DisplayNames(['en'], { type: 'language' });

/** The English name of the language of a BCP 47 tag; undefined if the tag is malformed. */
export function languageName(tag: string): string | undefined {
  try {
    return languages.of(tag) ?? tag;
  } catch {
    return undefined;
  }
}

const words = z
  .string()
  .min(1)
  .max(MAX_WORDS)
  .meta({ examples: ['Welcome to the museum. What would you like to know?'] });

const turns = z
  .strictObject({
    detect: z
      .enum(['semantic', 'silence', 'push'])
      .optional()
      .describe(
        'How the end of the visitor’s turn is detected: `semantic` (default) by what was said, `silence` by a pause, `push` by a button that the visitor holds while they speak',
      ),
    eagerness: z
      .enum(['low', 'medium', 'high'])
      .optional()
      .describe('Only with `semantic`: how soon the agent answers'),
    silenceMs: integer('milliseconds', 500, 'Only with `silence`: how long the pause lasts before the agent answers')
      .min(200)
      .max(3000)
      .optional(),
    interrupt: z.boolean().optional().describe('Whether the visitor can interrupt the agent by speaking'),
  })
  .superRefine(({ detect = 'semantic', eagerness, silenceMs, interrupt }, context) => {
    const needs = (path: string, wanted: string): void =>
      context.addIssue({ code: 'custom', path: [path], message: `needs detect "${wanted}"` });
    if (eagerness !== undefined && detect !== 'semantic') needs('eagerness', 'semantic');
    if (silenceMs !== undefined && detect !== 'silence') needs('silenceMs', 'silence');
    if (interrupt !== undefined && detect === 'push') needs('interrupt', 'semantic" or "silence');
  });

const silence = z.strictObject({
  askAfterSec: integer('seconds', 30, 'How long nobody has spoken when the agent asks, once').min(5).max(600),
  say: z
    .union([z.literal(true), words], `must be true, or 1 to ${MAX_WORDS} characters`)
    .optional()
    .describe('What the agent asks: these words, or `true` (default) for its own'),
});

const extra = z.record(z.string(), z.unknown()).superRefine((value, context) => {
  for (const path of findOwned(value))
    context.addIssue({ code: 'custom', path: [...path], message: 'is set by a field of its own, or by Switchboard' });
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_EXTRA_BYTES)
    context.addIssue({ code: 'custom', message: 'must be at most 4 KiB (as JSON)' });
});

/** How a conversation with an agent feels, as opposed to who the agent is and what it can do (docs/agents.md). Defaults are the provider's. */
export const behaviour = z.object({
  greeting: z
    .union([z.literal(true), words], `must be true, or 1 to ${MAX_WORDS} characters`)
    .optional()
    .describe(
      'What the agent says first, once, when the first call opens: these words, or `true` to follow the instructions',
    ),
  wrapUp: z
    .union([z.literal(true), words], `must be true, or 1 to ${MAX_WORDS} characters`)
    .optional()
    .describe(
      'What the agent says, once in a session, about 30 seconds before the time or the budget runs out, or as the last process stops: these words, or `true` for a short goodbye',
    ),
  language: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z\d]{1,8})*$/, { error: NO_LANGUAGE, abort: true })
    .refine((tag) => languageName(tag) !== undefined, NO_LANGUAGE)
    .optional()
    .meta({
      description: 'The language, as a BCP 47 tag, that the agent speaks and visitors are understood in',
      examples: ['de-AT'],
    }),
  turns: turns.optional().describe('How turns are taken in the conversation'),
  transcribe: z
    .union(
      [
        z.literal(false),
        z.strictObject({
          model: z
            .string()
            .min(1)
            .max(128)
            .optional()
            .meta({ description: 'The transcription model', examples: ['gpt-transcribe'] }),
          words: z
            .array(z.string().min(1).max(64))
            .max(50)
            .optional()
            .meta({ description: 'Names that visitors may say', examples: [['Archaeopteryx', 'Burgess Shale']] }),
        }),
      ],
      'must be false, or an object with a model and at most 50 words of 1 to 64 characters',
    )
    .optional()
    .describe(
      'Whether visitors’ speech is transcribed for captions, and how; on by default where the call has no data channel',
    ),
  noise: z
    .enum(['near', 'far', 'off'])
    .optional()
    .describe('Noise reduction for a headset (`near`), for a microphone in the room (`far`), or none'),
  speed: number('factor', 1.1, 'How fast the agent speaks; 1 is normal speed').min(0.5).max(1.5).optional(),
  effort: z
    .enum(['minimal', 'low', 'medium', 'high'])
    .optional()
    .describe('How much the model reasons before it answers'),
  silence: silence.optional().describe('When and how the agent asks whether the visitor is still there'),
  extra: extra.optional().meta({
    description: 'Further fields of the provider’s own session object, merged into it: at most 4 KiB',
    examples: [{ temperature: 0.8 }],
  }),
  tellAi: z
    .union([z.boolean(), z.literal('greeting')], 'must be true, false or "greeting"')
    .optional()
    .describe(
      'Whether the element tells visitors that they speak with an AI; default true. `greeting`: the agent’s greeting says so; without a greeting the element does',
    ),
});

export type Behaviour = Readonly<z.infer<typeof behaviour>>;

export const BEHAVIOUR_FIELDS = Object.keys(behaviour.shape) as readonly (keyof Behaviour)[];

/** How visitors are transcribed; undefined if they are not. */
export function transcriptionOf({
  transcribe,
}: Pick<Behaviour, 'transcribe'>): Exclude<Behaviour['transcribe'], false | undefined> | undefined {
  return transcribe === false ? undefined : transcribe;
}

/**
 * The behaviour with the provider's transcription model filled in where transcription is on and the agent names no model. Transcription is
 * removed if the provider has none.
 * @param transcriber the provider's (`UpstreamProvider.transcriber`)
 */
export function withTranscriber(behaviour: Behaviour | null, transcriber: string | null | undefined): Behaviour | null {
  const transcription = transcriptionOf(behaviour ?? {});
  if (transcriber === undefined || transcription === undefined || transcription.model !== undefined) return behaviour;
  const transcribe = transcriber === null ? undefined : { ...transcription, model: transcriber };
  return behaviourOf({ ...behaviour, transcribe });
}

/** Picks the fields of a behaviour from any object that has them; null if none is set. */
export function behaviourOf(settings: Behaviour): Behaviour | null {
  const set = BEHAVIOUR_FIELDS.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]]);
  return set.length === 0 ? null : (Object.fromEntries(set) as Behaviour);
}
