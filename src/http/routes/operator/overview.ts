import { tenantsOf, within, type Operator } from '../../../auth/operators.ts';
import { overview, overviewFilters } from '../../../protocol/operator/overview.ts';
import { spendOf, type SpendDeps } from '../../../operator/spend.ts';
import { cacheFor } from '../../../kernel/cache-for.ts';
import { ifAway } from '../../../kernel/errors.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, TAG, withQuery } from './named.ts';
import {
  exampleOverviewActivity,
  overviewActivity,
  readActivity,
  type OverviewActivityDeps,
} from './overview-activity.ts';

export type OverviewDeps = SpendDeps & OverviewActivityDeps;

/** Many may look at once, and the embedded database does one thing at a time. */
const KEPT_MS = 2000;

const NOT_COUNTED = { byState: null, byCaller: null, byTenant: null };

/** How the service stands, in numbers. */
export function overviewRoute(deps: OverviewDeps): Route {
  const look = async (operator: Operator, atMs: number): Promise<object> => {
    let isDatabaseRead = true;
    const away = (): null => {
      isDatabaseRead = false;
      return null;
    };
    const orNull = <T>(part: Promise<T>): Promise<T | null> => part.catch(ifAway<T | null>(away, 'database'));
    const [counts, spend, read] = await Promise.all([
      orNull(deps.figures.counts(operator.tenants, atMs)),
      orNull(spendOf(atMs, tenantsOf(operator), deps)),
      readActivity(operator, atMs, orNull, deps),
    ]);
    const more = await overviewActivity(operator, atMs, read, isDatabaseRead, deps);
    return { ...(counts ?? NOT_COUNTED), spend, ...more };
  };
  const kept = cacheFor<object>(KEPT_MS);
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary:
      'Counts by state, caller and tenant, what today costs, what goes on, and who is to blame where something is wrong',
    description:
      'Callers and tenants count live sessions; ended counts those of the last day. With tenantId it is what the admin of that tenant is shown. While the database is away what is read there is null, and the verdict says so. Each process makes it at most every two seconds.',
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
