import { overview } from '../../../protocol/operator/overview.ts';
import { tenantsOf } from '../../../auth/operators.ts';
import { spendOf, type SpendDeps } from '../../../operator/spend.ts';
import type { VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface OverviewDeps extends SpendDeps {
  readonly history: Pick<VoiceHistory, 'counts'>;
}

const DAY_MS = 86_400_000;

/** How the service stands, in numbers. */
export function overviewRoute(deps: OverviewDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary: 'Counts by state, caller and tenant, and what today costs',
    description: 'Callers and tenants count live sessions; ended counts those of the last day.',
    tag: TAG,
    access: 'operator',
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
        },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { atMs } = call.request;
        const tenants = tenantsOf(call.operator);
        const counts = await deps.history.counts(atMs - DAY_MS, tenants);
        return { status: 200, body: { ...counts, spend: await spendOf(atMs, tenants, deps) } };
      }),
  });
}
