import type { VNode } from 'preact';
import { freshness, isUnread } from '../../data/live.ts';
import { now } from '../../data/server-time.ts';
import type { Overview } from '../../data/shapes.ts';
import { DependencyMark } from '../../components/status-marks.tsx';
import { Icon } from '../../components/icons.tsx';
import { Warning } from '../../components/view-states.tsx';
import { agoText, countText, nodeName } from '../../labels/format.ts';

type ProviderVerdict = NonNullable<Overview['verdict']>;

const marks: Readonly<Record<ProviderVerdict['us'], VNode>> = {
  fine: (
    <Icon>
      <path d="m2.5 8.5 4 4 7-9" />
    </Icon>
  ),
  degraded: <Warning />,
  unknown: (
    <Icon>
      <circle cx="8" cy="8" r="6" />
      <path d="M5 8h6" />
    </Icon>
  ),
};

/** Whether a problem is ours or the provider's: the first thing to know at night. */
export function Verdict({ overview, verdict }: { readonly overview: Overview; readonly verdict: ProviderVerdict }) {
  const [, provider, us] = /^Provider: (.*)\. Us: (.*)\.$/s.exec(verdict.sentence) ?? [];
  return (
    <section class="verdict" aria-label="Verdict">
      {provider === undefined || us === undefined ? (
        <p>{verdict.sentence}</p>
      ) : (
        <div class="verdict-sides">
          <Side name="Provider" judged={verdict.provider} words={provider} />
          <Side name="Us" judged={verdict.us} words={us} />
        </div>
      )}
      <details>
        <summary>What we see</summary>
        <Seen overview={overview} />
      </details>
    </section>
  );
}

function Side({
  name,
  judged,
  words,
}: {
  readonly name: string;
  readonly judged: ProviderVerdict['us'];
  readonly words: string;
}) {
  // A service that does not answer is not fine, whatever it said last. A service that only lost its database still gives a verdict.
  const isPast = freshness.value === 'away' && !isUnread.value;
  const look = isPast ? 'unknown' : judged;
  return (
    <p class={`verdict-side verdict-${look}`}>
      {marks[look]}
      <span>
        <b>{name}:</b> {isPast && 'was '}
        {judged === 'degraded' && 'degraded, '}
        {judged === 'unknown' && 'unknown, '}
        {words}
      </span>
    </p>
  );
}

/** The numbers behind the verdict, and the rules that it follows. */
function Seen({ overview: { dependencies, nodes, activity } }: { readonly overview: Overview }) {
  const refused = activity?.hour.refused;
  return (
    <div class="seen">
      <ul>
        {dependencies.map((dependency) => (
          <li key={dependency.name}>
            <DependencyMark dependency={dependency} />{' '}
            <span class="soft">for {agoText(now.peek() - Date.parse(dependency.since))}</span>
            {dependency.lastError !== null && <span class="soft">, last fault: {dependency.lastError}</span>}
          </li>
        ))}
        {nodes.map((node) => (
          <li key={node.id}>
            {nodeName(node)}: event loop {node.loopP99Ms.toFixed(1)} ms late (p99), {countText(node.eventsDropped)}{' '}
            events dropped
          </li>
        ))}
        {refused !== undefined && (
          <li>
            In the last hour the provider refused {countText(refused['UPSTREAM_ERROR'] ?? 0)} and did not answer{' '}
            {countText(refused['UPSTREAM_TIMEOUT'] ?? 0)} in time
          </li>
        )}
      </ul>
      <p class="soft">
        The provider is degraded when of at least 5 mints in 5 minutes a tenth failed, or they took twice as long as
        yesterday. We are when something that we need is away, an event loop is 100 ms late, one reply of a hundred is a
        fault of ours, or events are dropped.
      </p>
    </div>
  );
}
