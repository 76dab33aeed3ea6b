import { z } from 'zod';
import { instant } from '../values.ts';

/** What every page of a list tells beside its rows (docs/contract.md, section 8). */
export const page = {
  nextCursor: z.string().nullable().meta({ description: 'Of the next page; null on the last one' }),
  asOf: instant,
  searchedTo: instant.nullable().meta({
    description: 'How far was looked, where a page is short because it looked at 10,000 rows; its cursor goes on',
  }),
};

/** What every list may be asked. */
export const pageAsked = {
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
};
