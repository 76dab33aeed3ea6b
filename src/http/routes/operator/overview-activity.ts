import type { Operator } from '../../../auth/operators.ts';
import { activityOf } from '../../../operator/activity-spans.ts';
import type { Figures } from '../../../operator/figures.ts';
import type { NodeList } from '../../../operator/nodes.ts';
import { judge } from '../../../operator/verdict.ts';
import type { OverviewActivity } from '../../../protocol/operator/overview-activity.ts';
import type { ActivityStore } from '../../../stores/activity/contract.ts';
import { exampleNode } from './nodes.ts';

export interface OverviewActivityDeps {
  readonly figures: Figures;
  readonly activity: Pick<ActivityStore, 'sums'>;
  readonly nodes: Pick<NodeList, 'list'>;
}

const exampleTallies = { started: 96, ended: { closed_by_client: 80 }, refused: { RATE_LIMIT_EXCEEDED: 12 } };
const exampleSpan = { ...exampleTallies, previous: exampleTallies };

export const exampleOverviewActivity: OverviewActivity = {
  asOf: '2030-01-01T12:00:00.000Z',
  endingSoon: 214,
  activity: { minute: exampleSpan, hour: exampleSpan, day: exampleSpan },
  verdict: { us: 'fine', provider: 'fine', sentence: 'Provider: fine. Us: fine.' },
  dependencies: exampleNode.dependencies,
  nodes: [exampleNode],
};

/**
 * What goes on, what ends soon, and who is to blame where something is wrong. Who is shown some tenants only is told nothing of the
 * installation.
 * @throws Unavailable when the database is away
 */
export async function overviewActivity(
  operator: Operator,
  atMs: number,
  deps: OverviewActivityDeps,
): Promise<OverviewActivity> {
  const { figures, activity } = deps;
  const { tenants } = operator;
  const seesAll = tenants === '*';
  const [endingSoon, went, recent] = await Promise.all([
    figures.endingSoon(tenants, atMs),
    activityOf(activity, atMs, tenants, figures.lastMinute(tenants, atMs)),
    seesAll ? figures.latelyCounted(atMs) : [],
  ]);
  const told = { asOf: new Date(atMs).toISOString(), endingSoon, activity: went.activity };
  if (!seesAll) return { ...told, verdict: null, dependencies: [], nodes: [] };
  const nodes = deps.nodes.list();
  const dependencies = await figures.dependencies(atMs);
  const verdict = judge({ lately: recent, yesterday: went.day, nodes, dependencies });
  return { ...told, verdict, dependencies, nodes };
}
