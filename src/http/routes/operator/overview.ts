import { tenantsOf, within, type Operator } from '../../../auth/operators.ts';
import { overview, overviewFilters } from '../../../protocol/operator/overview.ts';
import { spendOf, type SpendDeps } from '../../../operator/spend.ts';
import { briefly } from '../../../kernel/briefly.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';
import { exampleOverviewActivity, overviewActivity, type OverviewActivityDeps } from './overview-activity.ts';

export type OverviewDeps = SpendDeps & OverviewActivityDeps;

/** Many may look at once, and the embedded database does one thing at a time. */
const KEPT_MS = 2000;

/** How the service stands, in numbers. */
export function overviewRoute(deps: OverviewDeps): Route {
  const look = async (operator: Operator, atMs: number): Promise<object> => {
    const tenants = tenantsOf(operator);
    const [counts, spend, more] = await Promise.all([
      deps.figures.counts(operator.tenants, atMs),
      spendOf(atMs, tenants, deps),
      overviewActivity(operator, atMs, deps),
    ]);
    return { ...counts, spend, ...more };
  };
  const kept = briefly<object>(KEPT_MS);
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary:
      'Counts by state, caller and tenant, what today costs, what goes on, and who is to blame where something is wrong',
    description:
      'Callers and tenants count live sessions; ended counts those of the last day. With tenantId it is what the admin of that tenant is shown. Each process makes it at most every two seconds.',
    tag: TAG,
    access: 'operator',
    query: overviewFilters,
    replies: {
      200: {
        description: 'Live sessions, and those that ended within a day',
        schema: overview,
        example: {
          byState: { engaged: 12, idle: 2, stale: 0, ended: 340 },
          byCaller: { widget: 13, console: 1 },
          byTenant: { acme: 14 },
          spend: {
            tokens: 150_000,
            dollars: 212.4,
            ceiling: 640,
            projected: 590.1,
            atCeiling: [{ subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4', at: '2030-01-01T20:40:00.000Z' }],
          },
          ...exampleOverviewActivity,
        },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, overviewFilters, async ({ tenantId }) => {
        const { request } = call;
        const operator = within(call.operator, tenantId);
        const shown = operator.tenants === '*' ? '*' : JSON.stringify(operator.tenants);
        return { status: 200, body: await kept(shown, request.atMs, () => look(operator, request.atMs)) };
      }),
  });
}
