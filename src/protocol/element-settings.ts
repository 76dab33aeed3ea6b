import { z } from 'zod';

/** The element's custom properties for colours, without the prefix `--switchboard-` (docs/widget.md). */
const ELEMENT_COLOURS = [
  'accent',
  'accent-ink',
  'accent-soft',
  'background',
  'sunken',
  'line',
  'control-line',
  'ink',
  'ink-soft',
  'danger',
  'danger-soft',
  'warning',
  'warning-soft',
  'focus',
  'orb-1',
  'orb-2',
  'orb-3',
] as const;

const MAX_TEXT = 200;
const MAX_TEXTS_BYTES = 4096;
const NO_TEXT = `must be a text of 1 to ${MAX_TEXT} characters`;

/** Accepts none of the other forms of a CSS colour: no function, variable or address. */
const colour = z
  .string()
  .regex(/^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i, 'must be a colour in hexadecimal digits, such as #0b6651');

const text = z.string(NO_TEXT).min(1, NO_TEXT).max(MAX_TEXT, NO_TEXT);
const textName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z_]{0,63}$/, 'must be the name of a text, as in words.ts of the element');

const texts = z
  .record(textName, z.union([text, z.record(textName, text)], `${NO_TEXT}, or an object of such`))
  .refine(
    (given) => Buffer.byteLength(JSON.stringify(given)) <= MAX_TEXTS_BYTES,
    `must be at most ${MAX_TEXTS_BYTES} bytes as JSON`,
  );

/**
 * How the element looks and speaks for an agent, so that pages need not change (docs/widget.md). This is the only check, whatever the
 * source of the settings. All of them are public.
 */
export const elementSettings = z.strictObject({
  texts: texts.optional().describe('Texts that replace the element’s own, by name; shown as plain text'),
  colours: z
    .partialRecord(z.enum(ELEMENT_COLOURS), colour)
    .optional()
    .meta({
      description: 'Colours, by the names of the element’s custom properties',
      examples: [{ accent: '#0b6651' }],
    }),
  placement: z
    .enum(['bottom-right', 'bottom-left', 'top-right', 'top-left'])
    .optional()
    .describe('The corner of the page in which the button stands'),
  consent: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'A sentence that the visitor must agree to before the first conversation; write links as [words](address)',
    ),
});

export type ElementSettings = Readonly<z.infer<typeof elementSettings>>;
