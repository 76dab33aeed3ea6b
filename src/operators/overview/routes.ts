import type { z } from 'zod';
import { type Operator, tenantsOf, within } from '../roles.ts';
import {
  overview,
  type OverviewActivity,
  activityAsked,
  activitySeries,
  type ActivitySeries,
} from '../../protocol/operator/overview.ts';
import { spendOf } from '../usage/spend.ts';
import { cacheFor } from '../../kernel/collections.ts';
import { ifAway } from '../../kernel/errors.ts';
import type { Route } from '../../http/route.ts';
import { operatorRoute } from '../operator-route.ts';
import { iso } from '../../kernel/time.ts';
import { activityOf, seriesOf } from './activity.ts';
import { COUNTED_MS, KEPT_MS } from './overview-cache.ts';
import { judge } from './verdict.ts';
import { exampleNode } from '../installation/routes.ts';
import type { Services } from '../../http/services.ts';
import { ofTenant } from '../../protocol/fields.ts';

const NOT_COUNTED = { byState: null, byCaller: null, byTenant: null };

export function overviewRoute(services: Services): Route {
  const { overviewCache } = services.operators;
  const { config, nodes, stores } = services.core;

  /** The verdict is known even without the database. Operators who see some tenants only learn nothing about the installation. */
  const look = async (operator: Operator, atMs: number): Promise<z.infer<typeof overview>> => {
    const { tenants } = operator;
    const seesAll = tenants === '*';
    let isDatabaseRead = true;
    const away = (): null => {
      isDatabaseRead = false;
      return null;
    };
    const orNull = <T>(part: Promise<T>): Promise<T | null> => part.catch(ifAway<T | null>(away, 'database'));
    const minute = overviewCache.lastMinute(tenants, atMs);
    const usual = overviewCache.usualHour(tenants, atMs);
    const [counts, spend, unexplained, reconciledAtMs, webhooks, endingSoon, lateHangups, went, lately] =
      await Promise.all([
        orNull(overviewCache.counts(tenants, atMs)),
        orNull(spendOf(atMs, tenantsOf(operator), services)),
        seesAll ? orNull(stores.reconciliations.unexplainedAt(atMs)) : null,
        seesAll && config.reconciliation.adminKey !== undefined ? orNull(stores.reconciliations.readAtMs()) : null,
        orNull(stores.webhooks.countTroubled(tenantsOf(operator))),
        orNull(overviewCache.endingSoon(tenants, atMs)),
        orNull(overviewCache.lateHangups(tenants, atMs)),
        orNull(activityOf(stores.activity, atMs, tenants, minute, usual)),
        seesAll ? orNull(overviewCache.latelyCounted(atMs)) : null,
      ]);
    const running = seesAll ? nodes.list() : [];
    const dependencies = seesAll ? await overviewCache.dependencies(atMs) : [];
    const observed = { lately, yesterday: went?.day ?? null, isDatabaseRead, nodes: running, dependencies };
    return {
      ...(counts ?? NOT_COUNTED),
      spend,
      unexplainedDollars: unexplained === null ? null : unexplained / 1_000_000,
      reconciledAt: typeof reconciledAtMs === 'number' ? iso(reconciledAtMs) : null,
      webhooks,
      asOf: iso(atMs),
      endingSoon,
      lateHangups,
      activity: went?.activity ?? null,
      verdict: seesAll ? judge(observed) : null,
      dependencies,
      nodes: running,
    };
  };
  const kept = cacheFor<z.infer<typeof overview>>(KEPT_MS);
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/overview',
    operationId: 'getOverview',
    summary: 'Get counts by state, caller and tenant, today’s cost, the activity, and a verdict on what is wrong',
    description:
      'The counts by caller and tenant are of live sessions; `ended` counts those of the last day. With tenantId the reply is what the admin of that tenant sees. While the database is away everything read from it is null, and the verdict says so. Each process computes it at most every two seconds.',
    query: ofTenant,
    reply: {
      description: 'The overview',
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
          budgets: [{ tenantId: 'acme', id: 'march', percent: 96, at: '2030-01-01T22:10:00.000Z' }],
          totals: [{ tenantId: 'acme', keyId: 'site', percent: 100, at: null }],
        },
        unexplainedDollars: 0,
        reconciledAt: '2030-01-01T06:00:02.000Z',
        webhooks: { failing: 1, disabled: 0 },
        ...exampleOverviewActivity,
      },
    },
    handle: ({ request, operator: all }, { tenantId }) => {
      const operator = within(all, tenantId);
      const shown = operator.tenants === '*' ? '*' : JSON.stringify(operator.tenants);
      return kept(shown, request.atMs, () => look(operator, request.atMs));
    },
  });
}

const exampleTallies = { started: 96, ended: { closed_by_client: 80 }, refused: { RATE_LIMIT_EXCEEDED: 12 } };
const exampleSpan = { ...exampleTallies, previous: exampleTallies };

export const exampleOverviewActivity: OverviewActivity = {
  asOf: '2030-01-01T12:00:00.000Z',
  endingSoon: 214,
  lateHangups: 0,
  activity: { minute: exampleSpan, hour: { ...exampleSpan, usual: exampleTallies }, day: exampleSpan },
  verdict: { us: 'fine', provider: 'fine', sentence: 'Provider: fine. Us: fine.' },
  dependencies: exampleNode.dependencies,
  nodes: [exampleNode],
};

export function activityRoute({ core }: Services): Route {
  const { activity } = core.stores;
  const kept = cacheFor<ActivitySeries['series'] | undefined>(COUNTED_MS);
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
