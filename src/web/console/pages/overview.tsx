import { useLocation } from 'preact-iso';
import { whatStandsOut, type Matter as Known } from '../data/attention.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { isWhole, lastMinute, overviewAfter, overviewOver } from '../data/overview.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import type { Activity, Overview } from '../data/shapes.ts';
import { Bars, type Bar } from '../components/bars.tsx';
import { Card } from '../components/card.tsx';
import { ErrorCode } from '../components/codes.tsx';
import { Page } from '../components/page.tsx';
import { Dependencies, StateMark } from '../components/status-marks.tsx';
import { Chips } from '../components/filter-fields.tsx';
import { Shape } from '../components/icons.tsx';
import { Matter } from '../components/matters.tsx';
import { Moment } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Shown, Warning } from '../components/view-states.tsx';
import { countText, latencyText, nodeName } from '../labels/format.ts';
import { reasonWords, STATE_NAMES, STATES } from '../labels/sessions.ts';
import { OverviewHeading } from './overview/emergency-stop.tsx';
import { OverTime } from './overview/over-time.tsx';
import { SpendCard } from './overview/spend.tsx';
import { Verdict } from './overview/verdict.tsx';
import { SECOND_MS } from '../data/durations.ts';

/** Ticks update what changes fastest. The verdict, reasons, codes and the spend have to be read. */
const BESIDE_TICKS_MS = 10 * SECOND_MS;
/** While the database is away, the verdict is shown without it. */
const PARTLY = { isWhole, over: overviewOver };

/** Shown for a number that cannot be read. */
const UNREAD = '–';

/** The state of the service, with what is wrong first. */
export function OverviewPage() {
  const { tenantId } = useScope();
  const resource = useResource<Overview>(
    `/api/operator/overview${queryText({ tenantId })}`,
    { topics: ['counts'] },
    // A tick counts the sessions of all tenants.
    tenantId === ''
      ? { after: overviewAfter, besideFeedMs: BESIDE_TICKS_MS, partly: PARTLY }
      : { besideFeedMs: UNTOLD_MS, partly: PARTLY },
  );
  return (
    <Page title="Overview">
      <OverviewHeading />
      <Shown key={tenantId} resource={resource} what="the overview">
        {(overview) => <Standing overview={overview} />}
      </Shown>
    </Page>
  );
}

function Standing({ overview }: { readonly overview: Overview }) {
  const { query, route } = useLocation();
  const { tenantId, to } = useScope();
  const span = query['span'] === 'day' ? 'day' : 'hour';
  const from = span === 'day' ? '-24h' : '-1h';
  const { verdict, spend, nodes, dependencies, activity, byCaller, byTenant } = overview;
  const chips = (
    <Chips
      label="Time"
      value={span}
      values={[
        ['hour', '1 h'],
        ['day', '24 h'],
      ]}
      onSet={(chosen) => route(`/console${queryText({ span: chosen === 'day' ? chosen : '', tenantId })}`, true)}
    />
  );
  return (
    <>
      {verdict !== null && <Verdict overview={overview} verdict={verdict} />}
      <Matters matters={whatStandsOut(overview)} />
      <Tiles overview={overview} />
      {!isWhole(overview) && (
        <p class="soft">What is not shown is in the database, which is away. It is read as soon as that is back.</p>
      )}
      <Card title="Over time" aside={chips}>
        <OverTime span={span} tenantId={tenantId} />
      </Card>
      <div class="stacks">
        <div class="stack">
          {activity !== null && (
            <Card title="Refusals by code" aside={chips}>
              <Counted
                columns={['Code', 'Refusals']}
                bars={barsOf(activity[span], 'refused', (code) => ({
                  words: <ErrorCode code={code} />,
                  href: to(`/console/refusals${queryText({ code, from })}`),
                }))}
                none="Nothing was refused."
              />
            </Card>
          )}
          {spend !== null && <SpendCard spend={spend} />}
        </div>
        <div class="stack">
          {activity !== null && (
            <Card title="Ends by reason" aside={chips}>
              <Counted
                columns={['Reason', 'Ends']}
                bars={barsOf(activity[span], 'ended', (reason) => ({
                  words: reasonWords(reason),
                  href: to(`/console/sessions${queryText({ reason, sort: '-endedAt' })}`),
                }))}
                none="No session ended."
              />
            </Card>
          )}
          {nodes.length > 0 && <Nodes nodes={nodes} />}
          {dependencies.length > 0 && (
            <Card title="What it needs" aside={<a href="/console/nodes">By process</a>}>
              <Dependencies dependencies={dependencies} />
            </Card>
          )}
          {byCaller !== null && <Live title="Live by caller" name="Caller" counts={byCaller} filter="caller" />}
        </div>
        <div class="stack">
          {activity !== null && <Starts overview={overview} activity={activity} />}
          {byTenant !== null && <Live title="Live by tenant" name="Tenant" counts={byTenant} filter="tenantId" />}
        </div>
      </div>
    </>
  );
}

function Matters({ matters }: { readonly matters: readonly Known[] }) {
  const { to } = useScope();
  if (matters.length === 0) return null;
  return (
    <ul class="matters" aria-label="To look at">
      {matters.map(({ degree, sentence, at, href }) => (
        <li key={sentence}>
          <Matter degree={degree} href={to(href)}>
            <b>{degree === 'wrong' ? 'Wrong' : 'Watch'}</b> {sentence} {at !== undefined && <Moment at={at} />}
          </Matter>
        </li>
      ))}
    </ul>
  );
}

function Tiles({ overview: { byState, endingSoon } }: { readonly overview: Overview }) {
  const { to } = useScope();
  return (
    <ul class="tiles">
      {STATE_NAMES.map((state) => (
        <li key={state}>
          <a class="tile" href={to(`/console/sessions?state=${state}`)} title={STATES[state]}>
            <StateMark state={state} />
            {state === 'ended' && <span class="soft">in 24 h</span>}
            <b class="figure">{byState === null ? UNREAD : countText(byState[state])}</b>
          </a>
        </li>
      ))}
      <li>
        <a
          class="tile"
          href={to('/console/sessions?endingWithinSec=60&sort=deadline')}
          title="by the clock, if nothing comes in between"
        >
          <span class="state">
            <Shape>
              <circle class="hollow" cx="6" cy="6" r="4.75" />
              <path class="hollow" d="M6 3v3.5h2.5" />
            </Shape>
            ending ≤60 s
          </span>
          <b class="figure">{endingSoon === null ? UNREAD : countText(endingSoon)}</b>
        </a>
      </li>
    </ul>
  );
}

interface StartsProps {
  readonly overview: Overview;
  readonly activity: NonNullable<Overview['activity']>;
}

/** How many sessions start per minute: just now, and usually. */
function Starts({ overview, activity }: StartsProps) {
  const { minute, hour, day } = activity;
  const { ended, refused } = lastMinute(overview, minute);
  return (
    <Card title="Starts a minute">
      <Bars
        isOrdered
        columns={['When', 'Starts a minute']}
        bars={[
          { label: 'last minute', count: minute.started },
          { label: 'minute before', count: minute.previous.started },
          { label: 'last hour', count: rateOf(hour.started, 60) },
          { label: 'last 24 h', count: rateOf(day.started, 24 * 60) },
          { label: 'day before', count: rateOf(day.previous.started, 24 * 60) },
        ]}
      />
      <p class="soft">
        In the last minute {countText(ended)} ended, and {countText(refused)} requests were refused.
      </p>
    </Card>
  );
}

/** A rate per minute, precise enough that a rare event is not shown as zero. */
function rateOf(started: number, minutes: number): number {
  const rate = started / minutes;
  return rate >= 10 ? Math.round(rate) : Number(rate.toPrecision(2));
}

function Counted({ columns, bars, none }: Parameters<typeof Bars>[0] & { readonly none: string }) {
  return bars.length === 0 ? <p class="soft">{none}</p> : <Bars columns={columns} bars={bars} />;
}

function barsOf(
  activity: Activity,
  what: 'ended' | 'refused',
  shown: (label: string) => Pick<Bar, 'words' | 'href'>,
): readonly Bar[] {
  return Object.entries(activity[what]).map(([label, count]) => ({
    label,
    count,
    before: activity.previous[what][label] ?? 0,
    ...shown(label),
  }));
}

function Nodes({ nodes }: Pick<Overview, 'nodes'>) {
  return (
    <Card title={`Nodes: ${countText(nodes.length)}`} aside={<a href="/console/nodes">All of them</a>}>
      <table class="plain">
        <thead class="unseen">
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Event loop</th>
            <th scope="col">Events dropped</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr key={node.id}>
              <th scope="row">{nodeName(node)}</th>
              <td class="number">{latencyText(node.loopP99Ms)} late</td>
              <td class={node.eventsDropped === 0 ? 'number soft' : 'number problem'}>
                {node.eventsDropped > 0 && <Warning />} {countText(node.eventsDropped)} dropped
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

interface LiveProps {
  readonly title: string;
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly filter: string;
}

/** Live sessions by state; each count links to its sessions. */
function Live({ title, name, counts, filter }: LiveProps) {
  const { to } = useScope();
  const bars = Object.entries(counts).map(([label, count]) => ({
    label,
    count,
    href: to(`/console/sessions${queryText({ state: 'engaged,idle,stale', [filter]: label })}`),
  }));
  return (
    <Card title={title}>
      {bars.length === 0 ? (
        <p class="soft">
          None is live. Start one at the <a href="/demo">demo</a>.
        </p>
      ) : (
        <Bars columns={[name, 'Live sessions']} bars={bars} />
      )}
    </Card>
  );
}
