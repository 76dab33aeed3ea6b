import type { Operator } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import { activityOf } from '../../../operator/activity-spans.ts';
import type { Figures } from '../../../operator/figures.ts';
import type { NodeList } from '../../../node/nodes.ts';
import { judge } from '../../../operator/verdict.ts';
import type { OverviewActivity } from '../../../protocol/operator/overview.ts';
import type { ActivityStore, Moved } from '../../../stores/activity/contract.ts';
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

/** What of the overview is in the database; what cannot be read is null. */
interface Read {
  readonly endingSoon: number | null;
  readonly went: Awaited<ReturnType<typeof activityOf>> | null;
  /** Null as well for who sees some tenants only. */
  readonly lately: readonly Moved[] | null;
}

/** Reads what goes on, and what ends soon. @param orNull makes null of what cannot be read */
export async function readActivity(
  { tenants }: Operator,
  atMs: number,
  orNull: <T>(part: Promise<T>) => Promise<T | null>,
  { figures, activity }: OverviewActivityDeps,
): Promise<Read> {
  const [endingSoon, went, lately] = await Promise.all([
    orNull(figures.endingSoon(tenants, atMs)),
    orNull(activityOf(activity, atMs, tenants, figures.lastMinute(tenants, atMs))),
    tenants === '*' ? orNull(figures.latelyCounted(atMs)) : null,
  ]);
  return { endingSoon, went, lately };
}

/**
 * What goes on, and who is to blame where something is wrong, which is known without the database. Who is shown some tenants only is told
 * nothing of the installation.
 * @param isDatabaseRead whether it answered all that was asked
 */
export async function overviewActivity(
  { tenants }: Operator,
  atMs: number,
  { endingSoon, went, lately }: Read,
  isDatabaseRead: boolean,
  deps: OverviewActivityDeps,
): Promise<OverviewActivity> {
  const told = { asOf: iso(atMs), endingSoon, activity: went?.activity ?? null };
  if (tenants !== '*') return { ...told, verdict: null, dependencies: [], nodes: [] };
  const nodes = deps.nodes.list();
  const dependencies = await deps.figures.dependencies(atMs);
  const verdict = judge({ lately, yesterday: went?.day ?? null, isDatabaseRead, nodes, dependencies });
  return { ...told, verdict, dependencies, nodes };
}
