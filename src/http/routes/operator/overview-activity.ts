import { tenantsOf, type Operator } from '../../../auth/operators.ts';
import { activityOf, lately } from '../../../operator/activity-spans.ts';
import type { Dependencies } from '../../../operator/dependencies.ts';
import { readMints } from '../../../operator/mints.ts';
import type { NodeList } from '../../../operator/nodes.ts';
import { judge } from '../../../operator/verdict.ts';
import type { OverviewActivity } from '../../../protocol/operator/overview-activity.ts';
import type { DependencyState } from '../../../protocol/operator/node.ts';
import type { ActivityStore, Moved } from '../../../stores/activity/contract.ts';
import type { VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { endingBy } from '../../../voice/deadlines.ts';
import type { VoiceSessions } from '../../../voice/sessions.ts';
import { exampleNode } from './nodes.ts';

const SOON_MS = 60_000;

export interface OverviewActivityDeps {
  readonly history: Pick<VoiceHistory, 'countEnding'>;
  readonly sessions: Pick<VoiceSessions, 'limits'>;
  readonly activity: Pick<ActivityStore, 'sums'>;
  readonly dependencies: Pick<Dependencies, 'list'>;
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
  const { history, sessions, activity } = deps;
  const { tenants } = operator;
  const seesAll = tenants === '*';
  const ending = endingBy(atMs + SOON_MS, sessions.limits);
  const [endingSoon, went, recent] = await Promise.all([
    history.countEnding({ ...ending, tenants: tenantsOf(operator) }),
    activityOf(activity, atMs, { tenants }),
    seesAll ? lately(activity, atMs) : [],
  ]);
  const told = { asOf: new Date(atMs).toISOString(), endingSoon, activity: went.activity };
  if (!seesAll) return { ...told, verdict: null, dependencies: [], nodes: [] };
  const nodes = deps.nodes.list();
  const dependencies = deps.dependencies.list().map((one) => withMints(one, recent));
  const verdict = judge({ lately: recent, yesterday: went.day, nodes, dependencies });
  return { ...told, verdict, dependencies, nodes };
}

/** Of the provider nobody asks how fast it answers: what it was asked for tells. */
function withMints(dependency: DependencyState, recent: readonly Moved[]): DependencyState {
  if (dependency.name !== 'provider') return dependency;
  const slowest = Math.max(0, ...readMints(recent, 'now').map(({ p95Sec }) => p95Sec ?? 0));
  return slowest === 0 ? dependency : { ...dependency, latencyMs: Math.round(slowest * 1000) };
}
