import { z } from 'zod';
import { count, dollars, instant } from '../field-types.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';
import { asOf } from './page.ts';
import { countsByState } from './session.ts';
import { spend } from './usage.ts';

const unread = (what: string) => ({ description: `${what}; null while it cannot be read` });

/** What the overview shows besides the numbers of sessions (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf,
  endingSoon: count
    .nullable()
    .describe(
      'Sessions that the clock will end within a minute unless something else happens; null while it cannot be read',
    ),
  lateHangups: count
    .nullable()
    .describe('Calls whose hang-up is still not confirmed 10 s after it began; null while it cannot be read'),
  activity: activity.nullable().meta(unread('Activity in the last minute, hour and day')),
  verdict: verdict
    .nullable()
    .describe('Whether the service and its provider are healthy; null for users limited to some tenants'),
  dependencies: z.array(dependencyState).describe('The dependencies of the process that answers'),
  nodes: z.array(operatorNode).describe('The processes of the installation'),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;

/** GET /api/operator/overview: the numbers of sessions, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: countsByState.nullable().meta(unread('Sessions by state; `ended` covers the last day')),
  byCaller: z
    .object({
      widget: count.describe('Sessions of pages with a widget key'),
      console: count.describe('Sessions of console users'),
    })
    .nullable()
    .meta(unread('Live sessions by who opened them')),
  byTenant: z.record(z.string(), count).nullable().meta(unread('Live sessions by the id of their tenant')),
  spend: spend
    .nullable()
    .describe('The cost of today; null if there is too much to add up, or while it cannot be read'),
  unexplainedDollars: dollars
    .nullable()
    .describe(
      'The unexplained difference between the provider’s bill and Switchboard’s count over the last three days; null while it cannot be read, and for users limited to some tenants',
    ),
  reconciledAt: instant
    .nullable()
    .describe(
      'When the provider last gave a usable answer about what it bills; before the first, when it was first asked. Null if it is not asked or was never asked, while this cannot be read, and for users limited to some tenants',
    ),
  webhooks: z
    .object({
      failing: count.describe('Webhooks whose server is failing'),
      disabled: count.describe('Webhooks that were disabled by a 410, or after failing for five days'),
    })
    .nullable()
    .describe(
      'How many webhooks are failing, or were disabled by a 410 or after five days; null while it cannot be read',
    ),
  ...overviewActivity.shape,
});
