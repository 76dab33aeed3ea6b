import { z } from 'zod';
import { count } from '../values.ts';
import { activity, verdict } from './activity.ts';
import { dependencyState, operatorNode } from './node.ts';

/** What the overview tells beside how many sessions there are (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf: z.iso.datetime(),
  endingSoon: count.meta({ description: 'Sessions that end by the clock within a minute if nothing comes in between' }),
  activity,
  verdict: verdict.nullable().meta({ description: 'Null for who is shown some tenants only' }),
  dependencies: z.array(dependencyState).meta({ description: 'Of the process that answers' }),
  nodes: z.array(operatorNode),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;
