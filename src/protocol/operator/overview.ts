import { z } from 'zod';
import { count, text } from '../values.ts';
import { spend } from './usage.ts';
import { overviewActivity, unread } from './overview-activity.ts';

/** What GET /api/operator/overview may be asked. */
export const overviewFilters = z.object({ tenantId: text(128).optional() });

/** GET /api/operator/overview: how many sessions there are, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: z.object({ engaged: count, idle: count, stale: count, ended: count }).nullable().meta(unread),
  byCaller: z.object({ widget: count, console: count }).nullable().meta(unread),
  byTenant: z.record(z.string(), count).nullable().meta(unread),
  spend: spend
    .nullable()
    .meta({ description: 'What today costs; null where that is too much to add up, or cannot be read now' }),
  ...overviewActivity.shape,
});
