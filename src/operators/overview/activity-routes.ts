import { cacheFor } from '../../kernel/cache-for.ts';
import { iso } from '../../kernel/time.ts';
import { activityAsked, activitySeries, type ActivitySeries } from '../../protocol/operator/overview.ts';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { within } from '../roles.ts';
import { operatorRoute } from '../route.ts';
import { seriesOf } from './activity-spans.ts';

/** The interval at which processes write their counts: nothing newer exists sooner. */
const KEPT_MS = 5000;

/** Activity over time. */
export function activityRoute({ core }: Services): Route {
  const { activity } = core.stores;
  const kept = cacheFor<ActivitySeries['series'] | undefined>(KEPT_MS);
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/activity',
    operationId: 'getActivity',
    summary: 'Get the activity of the last hour by minute, or of the last day by hour',
    description:
      'With tenantId the reply is what the admin of that tenant sees. Each process computes it at most every five seconds.',
    query: activityAsked,
    reply: {
      description: 'Starts, ends and refusals over time',
      schema: activitySeries,
      example: {
        seriesBy: 'hour',
        series: [{ at: '2030-01-01T12:00:00.000Z', started: 96, ended: 80, refused: 12 }],
        isCounted: true,
        asOf: '2030-01-01T12:34:00.000Z',
      },
    },
    handle: async ({ operator, request: { atMs } }, { span, tenantId }) => {
      const { tenants } = within(operator, tenantId);
      const series = await kept(JSON.stringify([span, tenants]), atMs, () => seriesOf(activity, span, atMs, tenants));
      const seriesBy = span === 'hour' ? 'minute' : 'hour';
      const isCounted = series !== undefined;
      return { seriesBy, series: series ?? [], isCounted, asOf: iso(atMs) };
    },
  });
}
