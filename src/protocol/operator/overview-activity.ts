import { z } from 'zod';
import { count } from '../values.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';

export const unread = { description: 'Null where it cannot be read now, because the database is away' };

/** What the overview tells beside how many sessions there are (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf: z.iso.datetime(),
  endingSoon: count.nullable().meta({
    description:
      'Sessions that end by the clock within a minute if nothing comes in between; null where it cannot be read now',
  }),
  activity: activity.nullable().meta(unread),
  verdict: verdict.nullable().meta({ description: 'Null for who is shown some tenants only' }),
  dependencies: z.array(dependencyState).meta({ description: 'Of the process that answers' }),
  nodes: z.array(operatorNode),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;
