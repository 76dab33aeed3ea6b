import { queryText } from '../../data/query.ts';
import { zone } from '../../data/preferences.ts';
import { useResource } from '../../data/resource.ts';
import type { ActivitySeries } from '../../data/shapes.ts';
import { ColumnsChart, columnsOf } from '../../components/columns-chart.tsx';
import { Shown } from '../../components/view-states.tsx';
import { SECOND_MS } from '../../data/durations.ts';

/** Nodes save their counts every five seconds, and a column covers at least a minute. */
const READ_EVERY_MS = 15 * SECOND_MS;

const CHARTS = [
  ['started', 'Sessions started'],
  ['refused', 'Requests refused'],
] as const;

/** Charts of the last hour or day. */
export function OverTime({ span, tenantId }: { readonly span: 'hour' | 'day'; readonly tenantId: string }) {
  const resource = useResource<ActivitySeries>(
    `/api/operator/activity${queryText({ span, tenantId })}`,
    { topics: ['counts'] },
    // A tick does not report a minute's counts.
    { after: (body) => body, besideFeedMs: READ_EVERY_MS },
  );
  return (
    <Shown key={span} resource={resource} what="how it went on">
      {({ series, seriesBy, isCounted }) =>
        isCounted ? (
          <div class="over-time">
            {CHARTS.map(([what, title]) => (
              <ColumnsChart
                key={what}
                title={`${title} by the ${seriesBy}`}
                columns={columnsOf(
                  series.map((each) => ({ at: each.at, count: each[what] })),
                  seriesBy,
                  zone.value,
                )}
              />
            ))}
          </div>
        ) : (
          <p class="soft">This is too much to add up. Choose a tenant above.</p>
        )
      }
    </Shown>
  );
}
