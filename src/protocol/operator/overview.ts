import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { count, dollars, instant } from '../values.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';
import { asOf } from './page.ts';
import { countsByState } from './session.ts';
import { spend } from './usage.ts';

const unread = (what: string) => ({ description: `${what}; null while it cannot be read` });

/** What the overview shows besides the numbers of sessions (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf,
  endingSoon: count.nullable().meta({
    description:
      'Sessions that the clock will end within a minute unless something else happens; null while it cannot be read',
  }),
  lateHangups: count.nullable().meta({
    description: 'Calls whose hang-up is still not confirmed 10 s after it began; null while it cannot be read',
  }),
  activity: activity.nullable().meta(unread('Activity in the last minute, hour and day')),
  verdict: verdict
    .nullable()
    .meta({ description: 'Whether the service and its provider are healthy; null for users limited to some tenants' }),
  dependencies: z.array(dependencyState).meta({ description: 'The dependencies of the process that answers' }),
  nodes: z.array(operatorNode).meta({ description: 'The processes of the installation' }),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;

export const overviewFilters = z.object({ tenantId: tenantAsked.optional() });

/** GET /api/operator/overview: the numbers of sessions, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: countsByState.nullable().meta(unread('Sessions by state; `ended` covers the last day')),
  byCaller: z
    .object({
      widget: count.meta({ description: 'Sessions of pages with a widget key' }),
      console: count.meta({ description: 'Sessions of console users' }),
    })
    .nullable()
    .meta(unread('Live sessions by who opened them')),
  byTenant: z.record(z.string(), count).nullable().meta(unread('Live sessions by the id of their tenant')),
  spend: spend
    .nullable()
    .meta({ description: 'The cost of today; null if there is too much to add up, or while it cannot be read' }),
  unexplainedDollars: dollars.nullable().meta({
    description:
      'The unexplained difference between the provider’s bill and Switchboard’s count over the last three days; null while it cannot be read, and for users limited to some tenants',
  }),
  reconciledAt: instant.nullable().meta({
    description:
      'When the provider last gave a usable answer about what it bills; before the first, when it was first asked. Null if it is not asked or was never asked, while this cannot be read, and for users limited to some tenants',
  }),
  webhooks: z
    .object({
      failing: count.meta({ description: 'Webhooks whose server is failing' }),
      disabled: count.meta({ description: 'Webhooks that were disabled by a 410, or after failing for five days' }),
    })
    .nullable()
    .meta({
      description:
        'How many webhooks are failing, or were disabled by a 410 or after five days; null while it cannot be read',
    }),
  ...overviewActivity.shape,
});
