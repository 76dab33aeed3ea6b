import { z } from 'zod';

/** What bodies and frames have in common: `true` of a success, instants, texts with a bound, numbers in a unit. */
export const ok = z.literal(true).meta({ description: 'Always true: the request was carried out' });

/** A reply that says no more than that it is done. */
export const done = z.object({ ok });

/** An instant in ISO 8601 and UTC; whoever has a field of it says what happened then. */
export const instant = z.iso.datetime().meta({ examples: ['2030-01-01T12:00:00.000Z'] });

/** Several of some words, separated by commas. */
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
    .meta({ description: `One or more of ${words.join(', ')}, separated by commas` });
}

/** A text that is not empty. */
export const text = (max: number): z.ZodString => z.string().min(1).max(max);

/**
 * What a number is in, which the descriptions of the interface say of each (`x-unit`). `none` is of numbers that name or order something,
 * `varies` of those whose unit stands beside them.
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

/** What the descriptions say of a number: its unit, and an example. */
export function inUnit(unit: Unit, example: number): { 'x-unit': Unit; examples: number[] } {
  return { 'x-unit': unit, examples: [example] };
}

export const count = z.int().min(0).meta(inUnit('count', 3));
export const seconds = z.int().min(0).meta(inUnit('seconds', 90));
export const milliseconds = z.int().min(0).meta(inUnit('milliseconds', 120));
export const tokens = z.int().min(0).meta(inUnit('tokens', 1833));
export const dollars = z.number().meta(inUnit('dollars', 0.064187));
export const microDollars = z.int().min(0).meta(inUnit('micro-dollars', 64_187));
export const percent = z.int().min(0).meta(inUnit('percent', 80));
/** A number that orders or names something: a version, a status. */
export const ordinal = z.int().min(0).meta(inUnit('none', 1));

/** An instant that is asked for, as milliseconds since the Unix epoch. */
export const instantAsked = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-01T12:00:00Z' })
  .meta({ description: 'An ISO 8601 time with a time zone', examples: ['2030-01-01T12:00:00Z'] })
  .transform((text) => Date.parse(text))
  .meta({ description: 'An ISO 8601 time with a time zone' });
