import { z } from 'zod';
import { count, dollars, instant, tenantAsked, string, number } from '../fields.ts';
import { dependencyState, operatorNode } from './node.ts';
import { asOf } from './pagination.ts';
import { countsByState } from './session.ts';
import { spend } from './usage.ts';

const tallies = {
  started: count.describe('Sessions opened'),
  ended: z.record(z.string(), count).describe('Sessions ended, by reason'),
  refused: z.record(z.string(), count).describe('Requests refused, by code'),
};

const span = z.object({
  ...tallies,
  previous: z.object(tallies).describe('The same counts for the preceding span of equal length'),
});

const tallied = z.object(tallies);

export type ActivityTallies = z.infer<z.ZodObject<typeof tallies>>;

/** What went on in the installation (docs/contract.md, section 8). */
export const activity = z.object({
  minute: span.describe('The last whole minute'),
  hour: span
    .extend({
      usual: tallied
        .nullable()
        .describe(
          'The median of the same 60 minutes on the last seven days; null if fewer than three days are known, or if there is too much to add up',
        ),
    })
    .describe('The last 60 minutes, including the current one'),
  day: span.describe('The last 24 hours, including the current one'),
});

export type OperatorActivity = z.infer<typeof activity>;

/** GET /api/operator/activity (docs/contract.md, section 8). */
export const activityAsked = z.object({
  span: z
    .enum(['hour', 'day'])
    .default('hour')
    .meta({ description: 'The last 60 minutes by minute, or the last 24 hours by hour', examples: ['day'] }),
  tenantId: tenantAsked.optional(),
});

export const activitySeries = z.object({
  seriesBy: z.enum(['minute', 'hour']).describe('The time that one entry of the series covers'),
  series: z
    .array(
      z.object({
        at: instant.describe('When the minute or hour begins'),
        started: count.describe('Sessions opened in it'),
        ended: count.describe('Sessions ended in it'),
        refused: count.describe('Requests refused in it'),
      }),
    )
    .describe('Each minute or hour, the current one last'),
  isCounted: z
    .boolean()
    .describe('False if there is too much to add up, and then `series` is empty; ask with a `tenantId` for less'),
  asOf,
});

export type ActivitySeries = z.infer<typeof activitySeries>;

const judged = z.enum(['fine', 'degraded', 'unknown']);

export const verdict = z.object({
  us: judged.describe('The health of the service: its dependencies, its processes, its own faults'),
  provider: judged.describe('The health of the provider: `unknown` after too few requests to tell'),
  sentence: string(
    'The verdict in words, with the figures behind it',
    'Provider: 40 % of mints failed in 5 min (timeout, openai). Us: fine.',
  ),
});

export type OperatorVerdict = z.infer<typeof verdict>;

/** GET /api/operator/changes: what differs from the preceding span of the same length (docs/contract.md, section 8). */
export const operatorChanges = z.object({
  from: instant.describe('The start of the span'),
  to: instant.describe('The end of the span: the time of the request'),
  previousFrom: instant.describe('The start of the preceding span'),
  moved: z
    .array(
      z.object({
        what: string('What was counted', 'sessions started (widget)'),
        now: number('varies', 412, 'The value in the span: a count, or in the unit that the name says'),
        before: number('varies', 96, 'The value in the preceding span'),
        factor: number('factor', 4.29, '`now` divided by `before`; null if `before` is 0').nullable(),
      }),
    )
    .describe('Counts of at least ten that changed by a factor of 1.5 or more, up or down, the largest change first'),
  happened: z
    .array(
      z.object({
        at: instant.describe('When it happened'),
        kind: z.enum(['node', 'audit']).describe('A process started, or an operator did something'),
        sentence: string('What happened, in words', 'A process started on voice-2: 0.1.0 → 0.2.0.'),
        href: string('The console page with more about it; null if there is none', '/console/nodes').nullable(),
      }),
    )
    .describe('Processes that started and actions of operators; empty for admins of tenants'),
});

export type OperatorChanges = z.infer<typeof operatorChanges>;

export const changesSince = z.object({
  since: instant.optional().describe('The start of the span: at most 31 days ago, by default one day ago'),
  tenantId: tenantAsked.optional(),
});

const unread = (what: string) => ({ description: `${what}; null while it cannot be read` });

/** What the overview shows besides the numbers of sessions (docs/contract.md, section 8). */
export const overviewActivity = z.object({
  asOf,
  endingSoon: count
    .nullable()
    .describe(
      'Sessions that the clock will end within a minute unless something else happens; null while it cannot be read',
    ),
  lateHangups: count
    .nullable()
    .describe('Calls whose hang-up is still not confirmed 10 s after it began; null while it cannot be read'),
  activity: activity.nullable().meta(unread('Activity in the last minute, hour and day')),
  verdict: verdict
    .nullable()
    .describe('Whether the service and its provider are healthy; null for users limited to some tenants'),
  dependencies: z.array(dependencyState).describe('The dependencies of the process that answers'),
  nodes: z.array(operatorNode).describe('The processes of the installation'),
});

export type OverviewActivity = z.infer<typeof overviewActivity>;

/** GET /api/operator/overview: the numbers of sessions, and what goes on (docs/contract.md, section 8). */
export const overview = z.object({
  byState: countsByState.nullable().meta(unread('Sessions by state; `ended` covers the last day')),
  byCaller: z
    .object({
      widget: count.describe('Sessions of pages with a widget key'),
      console: count.describe('Sessions of console users'),
    })
    .nullable()
    .meta(unread('Live sessions by who opened them')),
  byTenant: z.record(z.string(), count).nullable().meta(unread('Live sessions by the id of their tenant')),
  spend: spend
    .nullable()
    .describe('The cost of today; null if there is too much to add up, or while it cannot be read'),
  unexplainedDollars: dollars
    .nullable()
    .describe(
      'The unexplained difference between the provider’s bill and Switchboard’s count over the last three days; null while it cannot be read, and for users limited to some tenants',
    ),
  reconciledAt: instant
    .nullable()
    .describe(
      'When the provider last gave a usable answer about what it bills; before the first, when it was first asked. Null if it is not asked or was never asked, while this cannot be read, and for users limited to some tenants',
    ),
  webhooks: z
    .object({
      failing: count.describe('Webhooks whose server is failing'),
      disabled: count.describe('Webhooks that were disabled by a 410, or after failing for five days'),
    })
    .nullable()
    .describe(
      'How many webhooks are failing, or were disabled by a 410 or after five days; null while it cannot be read',
    ),
  ...overviewActivity.shape,
});
