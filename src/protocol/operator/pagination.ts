import { z } from 'zod';
import { instant, inUnit, string } from '../fields.ts';

const cursor = 'WzE4OTM0OTkyMDAwMDAsNDFd';

export const nextCursor = string('Send it as `cursor` to get the next page; null on the last page', cursor).nullable();

export const asOf = instant.describe('When the reply was made');

/** What each page of a list contains besides its rows (docs/contract.md, section 8). */
export const page = {
  nextCursor,
  asOf,
  searchedTo: instant
    .nullable()
    .describe(
      'How far the search went, if the page is short because 10,000 rows were read; its cursor continues from there',
    ),
};

/** Query parameters that all lists accept. */
export const pageAsked = {
  cursor: z
    .string()
    .max(512)
    .optional()
    .meta({
      description: 'The `nextCursor` of the previous page; leave it out for the first page',
      examples: [cursor],
    }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .meta(inUnit('count', 20, 'The largest number of rows in a page')),
};
