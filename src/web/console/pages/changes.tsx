import { useLocation } from 'preact-iso';
import { auditOf } from '../data/links.ts';
import { instantOf, queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { now } from '../data/server-time.ts';
import type { Changes } from '../data/shapes.ts';
import { Card } from '../components/card.tsx';
import { Chips } from '../components/filter-fields.tsx';
import { Page } from '../components/page.tsx';
import { Moment } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Shown } from '../components/view-states.tsx';
import { actionWords } from '../labels/actions.ts';
import { actOf, howMuch, whatMoved, whereMoved } from '../labels/changes.ts';
import { countText } from '../labels/format.ts';

const SPANS: readonly (readonly [since: string, words: string])[] = [
  ['-1h', '1 h'],
  ['-24h', '24 h'],
  ['-7d', '7 d'],
  ['-30d', '30 d'],
];
const USUAL = '-24h';

/** What has changed: numbers that differ, and what people did. */
export function ChangesPage() {
  const { query, route } = useLocation();
  const { tenantId } = useScope();
  const since = query['since'] ?? USUAL;
  const resource = useResource<Changes>(
    `/api/operator/changes${queryText({ since, tenantId })}`,
    { topics: ['counts'] },
    { asked: () => `/api/operator/changes${queryText({ since: instantOf(since, now.peek()), tenantId })}` },
  );
  return (
    <Page title="Changes">
      <div class="title-row">
        <h1>Changes</h1>
        <Chips
          label="Since"
          value={since}
          values={SPANS}
          onSet={(chosen) => route(`/console/changes${queryText({ since: chosen, tenantId })}`)}
        />
      </div>
      <Shown key={`${since} ${tenantId}`} resource={resource} what="changes">
        {(changes) => <What changes={changes} since={since} />}
      </Shown>
    </Page>
  );
}

function What({
  changes: { from, previousFrom, moved, happened },
  since,
}: {
  readonly changes: Changes;
  readonly since: string;
}) {
  const { tenantId, to } = useScope();
  return (
    <>
      <p class="soft">
        Since <Moment at={from} />, against as long before, from <Moment at={previousFrom} />.
      </p>
      <Card title="What moved">
        {moved.length === 0 ? (
          <p class="soft">Nothing that counts ten or more moved by half. Look further back if it began earlier.</p>
        ) : (
          <ul class="changes">
            {moved.map((one) => {
              const href = whereMoved(one, since);
              const words = whatMoved(one);
              return (
                <li key={one.what}>
                  <b class="figure">
                    {one.factor !== null && one.factor < 1 ? '↓' : '↑'} {howMuch(one)}
                  </b>
                  <span class="break">
                    {href === undefined ? (
                      words
                    ) : (
                      <a href={to(href)} data-row>
                        {words}
                      </a>
                    )}
                    <span class="soft">
                      : {numberText(one.now)}, {numberText(one.before)} before
                    </span>
                  </span>
                </li>
              );
            })}
          </ul>
        )}
      </Card>
      <Card title="What happened">
        {happened.length === 0 ? (
          <p class="soft">
            {tenantId === '' ? 'No process started, and nobody changed anything.' : 'Nobody changed anything of it.'}
          </p>
        ) : (
          <ul class="changes">
            {happened.map((one) => (
              <li key={`${one.at} ${one.sentence}`}>
                <Moment at={one.at} />
                <span class="break">
                  <span class="kind">{one.kind === 'node' ? 'process' : 'operator'}</span> <Happened one={one} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}

/** What an operator did, in plain words, with a link to everything that was done to the same thing. */
function Happened({ one: { sentence, href } }: { readonly one: Changes['happened'][number] }) {
  const act = actOf(sentence);
  if (act !== undefined)
    return (
      <>
        {act.actor}{' '}
        <a href={auditOf(act.target)} title={act.action} data-row>
          {actionWords(act.action)}
        </a>
        : <code>{act.target}</code>
      </>
    );
  return href === null ? (
    <>{sentence}</>
  ) : (
    <a href={href} data-row>
      {sentence}
    </a>
  );
}

/** Counts are whole numbers; times are not. */
function numberText(value: number): string {
  return Number.isInteger(value) ? countText(value) : value.toFixed(2);
}
