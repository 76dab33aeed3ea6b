import { z } from 'zod';
import { tenantAsked } from '../fields.ts';
import { count, dollars } from '../values.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';
import { asOf } from './page.ts';
import { countsByState } from './session.ts';
import { spend } from './usage.ts';

const unread = (what: string) => ({ description: `${what}; null where it cannot be read now` });

/** What the overview tells beside how many sessions there are (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf,
  endingSoon: count.nullable().meta({
    description:
      'Sessions that end by the clock within a minute if nothing comes in between; null where it cannot be read now',
  }),
  lateHangups: count.nullable().meta({
    description: 'Calls that are still to be hung up 10 s after that began; null where it cannot be read now',
  }),
  activity: activity.nullable().meta(unread('What went on in the last minute, hour and day')),
  verdict: verdict
    .nullable()
    .meta({ description: 'Whether the service and its provider do well; null for who is shown some tenants only' }),
  dependencies: z.array(dependencyState).meta({ description: 'What the process that answers stands on' }),
  nodes: z.array(operatorNode).meta({ description: 'The processes of the installation' }),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;

export const overviewFilters = z.object({ tenantId: tenantAsked.optional() });

/** GET /api/operator/overview: how many sessions there are, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: countsByState.nullable().meta(unread('Sessions by state, `ended` those of the last day')),
  byCaller: z
    .object({
      widget: count.meta({ description: 'Of pages with a widget key' }),
      console: count.meta({ description: 'Of people who are logged in' }),
    })
    .nullable()
    .meta(unread('Live sessions by who opened them')),
  byTenant: z.record(z.string(), count).nullable().meta(unread('Live sessions by the id of their tenant')),
  spend: spend
    .nullable()
    .meta({ description: 'What today costs; null where that is too much to add up, or cannot be read now' }),
  unexplainedDollars: dollars.nullable().meta({
    description:
      'What of the last three days the provider bills otherwise than it was counted here, with nothing that explains it; null where it cannot be read now, and for who is shown some tenants only',
  }),
  webhooks: z
    .object({
      failing: count.meta({ description: 'Those whose server fails' }),
      disabled: count.meta({ description: 'Those that were disabled by 410, or after five days' }),
    })
    .nullable()
    .meta({
      description:
        'How many webhooks fail, or were disabled by their server or after five days; null where it cannot be read now',
    }),
  ...overviewActivity.shape,
});
