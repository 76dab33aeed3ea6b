import { z } from 'zod';

/** What bodies and frames have in common: `true` for success, instants, texts with a maximum length, numbers with a unit. */
export const ok = z.literal(true).describe('Always true: the request was carried out');

/** A reply that says only that the request succeeded. */
export const done = z.object({ ok });

/** An instant in ISO 8601 and UTC; the fields that use it say what happened then. */
export const instant = z.iso.datetime().meta({ examples: ['2030-01-01T12:00:00.000Z'] });

/** One or more of the given words, separated by commas. */
export function commaList<const T extends string>(words: readonly T[]) {
  const rule = `must be one or more of ${words.join(', ')}, separated by commas`;
  return z
    .string()
    .meta({ examples: [words.slice(0, 2).join(',')] })
    .transform((text, context) => {
      const found = text.split(',');
      if (found.every((word): word is T => (words as readonly string[]).includes(word))) return found;
      context.addIssue({ code: 'custom', message: rule });
      return z.NEVER;
    })
    .describe(`One or more of ${words.join(', ')}, separated by commas`);
}

/** The message for a field of the wrong type; a missing field gets a message of its own. */
export function wanted(what: string): { error: (issue: { readonly input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is missing' : `must be ${what}`) };
}

/** A text, with the description and the examples that the interface descriptions give of it. */
export const string = (description: string, ...examples: string[]): z.ZodString =>
  z.string().meta({ description, examples });

/** A text that is not empty and has at most `max` characters, described as in `string` where it is not described later. */
export const text = (max: number, description?: string, ...examples: string[]): z.ZodString =>
  (description === undefined ? z.string() : string(description, ...examples)).min(1).max(max);

/**
 * The units of numbers, which the interface descriptions give for each number (`x-unit`). `none` is for numbers that name or order
 * something, `varies` for those whose unit is given beside them.
 */
export const UNITS = [
  'count',
  'milliseconds',
  'seconds',
  'minutes',
  'days',
  'Unix seconds',
  'bytes',
  'pixels',
  'tokens',
  'dollars',
  'micro-dollars',
  'percent',
  'share',
  'factor',
  'varies',
  'none',
] as const;

export type Unit = (typeof UNITS)[number];

/** A number's metadata in the interface descriptions: its unit, an example, and where it is not that of the schema, its description. */
export function inUnit(unit: Unit, example: number, description?: string) {
  return { ...(description !== undefined && { description }), 'x-unit': unit, examples: [example] };
}

/** An integer, and any number, with what the interface descriptions say of it. */
export const integer = (...of: Parameters<typeof inUnit>): z.ZodInt => z.int().meta(inUnit(...of));
export const number = (...of: Parameters<typeof inUnit>): z.ZodNumber => z.number().meta(inUnit(...of));

export const count = integer('count', 3).min(0);
export const seconds = integer('seconds', 90).min(0);
export const milliseconds = integer('milliseconds', 120).min(0);
export const tokens = integer('tokens', 1833).min(0);
export const dollars = number('dollars', 0.064187);
export const microDollars = integer('micro-dollars', 64_187).min(0);
export const percent = integer('percent', 80).min(0);
/** A number that orders or identifies something, such as a version or a status. */
export const ordinal = integer('none', 1).min(0);

/** An instant in a query, parsed to milliseconds since the Unix epoch. */
export const instantAsked = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-01T12:00:00Z' })
  .meta({ description: 'An ISO 8601 time with a time zone', examples: ['2030-01-01T12:00:00Z'] })
  .transform((text) => Date.parse(text))
  .describe('An ISO 8601 time with a time zone');
