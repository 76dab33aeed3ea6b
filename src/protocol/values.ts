import { z } from 'zod';

/** What bodies and frames have in common: `true` of a success, instants, texts with a bound. */
export const ok = z.literal(true);

/** A reply that says no more than that it is done. */
export const done = z.object({ ok });

export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC' });

/** Several of some words, separated by commas. */
export function commaList<const T extends string>(words: readonly T[]) {
  const rule = `must be one or more of ${words.join(', ')}, separated by commas`;
  return z
    .string()
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

export const count = z.int().min(0);

/** An instant that is asked for, as milliseconds since the Unix epoch. */
export const instantAsked = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-01T12:00:00Z' })
  .transform((text) => Date.parse(text))
  .meta({ description: 'ISO 8601 with a zone', examples: ['2030-01-01T12:00:00Z'] });
