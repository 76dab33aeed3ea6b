import type { ComponentChildren } from 'preact';
import { useResource } from '../data/resource.ts';
import type { Overview } from '../data/shapes.ts';
import { usePage } from '../parts/page.ts';
import { StateMark } from '../parts/state-mark.tsx';
import { Failed, Loading, Warning } from '../parts/view-states.tsx';
import { countText, moneyText } from '../words/format.ts';
import { STATE_NAMES, STATES } from '../words/states.ts';

/** How the service stands: what its answer does not have yet is not shown. */
export function OverviewPage() {
  usePage('Overview');
  const { body, failure } = useResource<Overview>('/api/operator/overview', { topics: ['counts', 'sessions'] });
  const overview = body.value;
  if (overview === undefined)
    return (
      <div class="page">
        <h1>Overview</h1>
        {failure.value === undefined ? <Loading /> : <Failed failure={failure.value} what="the overview" />}
      </div>
    );
  const { verdict, endingSoon, spend, nodes, dependencies } = overview;
  return (
    <div class="page">
      <h1>Overview</h1>
      {verdict !== undefined && verdict !== null && <Verdict {...verdict} />}
      <ul class="tiles">
        {STATE_NAMES.map((state) => (
          <li key={state}>
            <a class="tile" href={`/console/sessions?state=${state}`} title={STATES[state]}>
              <StateMark state={state} />
              <b class="figure">{countText(overview.byState[state])}</b>
              {state === 'ended' && <span class="soft">in 24 h</span>}
            </a>
          </li>
        ))}
        {typeof endingSoon === 'number' && (
          <li>
            <a class="tile" href="/console/sessions?endingWithinSec=60&sort=deadline">
              <span>ending within 60 s</span>
              <b class="figure">{countText(endingSoon)}</b>
            </a>
          </li>
        )}
      </ul>
      <div class="columns">
        <Counts title="Live by tenant" name="Tenant" counts={overview.byTenant} filter="tenantId" />
        <Counts title="Live by caller" name="Caller" counts={overview.byCaller} filter="caller" />
        {spend !== undefined && spend !== null && (
          <Card title="Spent today">
            <p>
              <b class="figure">{moneyText(spend.dollars)}</b>
              {typeof spend.ceiling === 'number' && <> of {moneyText(spend.ceiling)}</>}
              {typeof spend.projected === 'number' && (
                <span class="soft"> at this pace {moneyText(spend.projected)} by midnight</span>
              )}
            </p>
          </Card>
        )}
        {dependencies !== undefined && dependencies.length > 0 && (
          <Card title="What it depends on">
            <table class="plain">
              <tbody>
                {dependencies.map(({ name, state, latencyMs }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{state}</td>
                    <td class="number">{typeof latencyMs === 'number' ? `${countText(latencyMs)} ms` : ''}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Card>
        )}
        {nodes !== undefined && nodes.length > 0 && (
          <Card title="Nodes">
            <p>
              <b class="figure">{nodes.length}</b>
            </p>
          </Card>
        )}
      </div>
    </div>
  );
}

function Verdict({
  us,
  provider,
  sentence,
}: {
  readonly us: string;
  readonly provider: string;
  readonly sentence: string;
}) {
  const isFine = us === 'fine' && provider === 'fine';
  return (
    <p class={isFine ? 'verdict' : 'verdict bad'}>
      {!isFine && <Warning />} {sentence}
    </p>
  );
}

function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

interface CountsProps {
  readonly title: string;
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly filter: string;
}

/** Counts, the largest first, each leading to its sessions. */
function Counts({ title, name, counts, filter }: CountsProps) {
  const rows = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <p class="soft">
          None is live. Start one at the <a href="/demo">demo</a>.
        </p>
      ) : (
        <table class="plain">
          <thead class="hidden">
            <tr>
              <th scope="col">{name}</th>
              <th scope="col">Live sessions</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([label, count]) => (
              <tr key={label}>
                <th scope="row">
                  <a href={`/console/sessions?state=engaged,idle,stale&${filter}=${encodeURIComponent(label)}`}>
                    {label}
                  </a>
                </th>
                <td class="share">
                  <progress max={most} value={count} aria-hidden="true" tabIndex={-1} />
                </td>
                <td class="number">{countText(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
