import { z } from 'zod';
import { inUnit, instant } from '../values.ts';

const cursor = 'WzE4OTM0OTkyMDAwMDAsNDFd';

export const nextCursor = z
  .string()
  .nullable()
  .meta({ description: 'Send it as `cursor` for the next page; null on the last one', examples: [cursor] });

export const asOf = instant.meta({ description: 'When the reply was made' });

/** What every page of a list tells beside its rows (docs/contract.md, section 8). */
export const page = {
  nextCursor,
  asOf,
  searchedTo: instant.nullable().meta({
    description: 'How far was looked, where a page is short because it looked at 10,000 rows; its cursor goes on',
  }),
};

/** What every list may be asked. */
export const pageAsked = {
  cursor: z
    .string()
    .max(512)
    .optional()
    .meta({ description: 'The `nextCursor` of the page before; the first page without it', examples: [cursor] }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .meta({ description: 'How many rows a page has at most', ...inUnit('count', 20) }),
};
