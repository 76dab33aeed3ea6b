import { z } from 'zod';
import { count, text } from '../values.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';
import { spend } from './usage.ts';

const unread = { description: 'Null where it cannot be read now, because the database is away' };

/** What the overview tells beside how many sessions there are (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf: z.iso.datetime(),
  endingSoon: count.nullable().meta({
    description:
      'Sessions that end by the clock within a minute if nothing comes in between; null where it cannot be read now',
  }),
  lateHangups: count.nullable().meta({
    description: 'Calls that are still to be hung up 10 s after that began; null where it cannot be read now',
  }),
  activity: activity.nullable().meta(unread),
  verdict: verdict.nullable().meta({ description: 'Null for who is shown some tenants only' }),
  dependencies: z.array(dependencyState).meta({ description: 'Of the process that answers' }),
  nodes: z.array(operatorNode),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;

export const overviewFilters = z.object({ tenantId: text(128).optional() });

/** GET /api/operator/overview: how many sessions there are, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: z.object({ engaged: count, idle: count, stale: count, ended: count }).nullable().meta(unread),
  byCaller: z.object({ widget: count, console: count }).nullable().meta(unread),
  byTenant: z.record(z.string(), count).nullable().meta(unread),
  spend: spend
    .nullable()
    .meta({ description: 'What today costs; null where that is too much to add up, or cannot be read now' }),
  unexplainedDollars: z.number().nullable().meta({
    description:
      'What of the last three days the provider bills otherwise than it was counted here, with nothing that explains it; null where it cannot be read now, and for who is shown some tenants only',
  }),
  webhooks: z.object({ failing: count, disabled: count }).nullable().meta({
    description:
      'How many webhooks fail, or were disabled by their server or after five days; null where it cannot be read now',
  }),
  ...overviewActivity.shape,
});
