import { overview } from '../../../protocol/operator/overview.ts';
import type { VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface OverviewDeps {
  readonly history: Pick<VoiceHistory, 'counts'>;
}

const DAY_MS = 86_400_000;

/** How the service stands, in numbers. */
export function overviewRoute({ history }: OverviewDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary: 'Counts by state, caller and tenant',
    description: 'Callers and tenants count live sessions; ended counts those of the last day.',
    tag: TAG,
    access: 'operator',
    right: 'see-installation',
    replies: {
      200: {
        description: 'Live sessions, and those that ended within a day',
        schema: overview,
        example: {
          byState: { engaged: 12, idle: 2, stale: 0, ended: 340 },
          byCaller: { widget: 13, console: 1 },
          byTenant: { acme: 14 },
        },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const counts = await history.counts(call.request.atMs - DAY_MS);
        return { status: 200, body: counts };
      }),
  });
}
