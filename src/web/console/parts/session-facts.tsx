import type { SessionDetail } from '../data/shapes.ts';
import { countText, moneyText } from '../words/format.ts';
import { Fact } from './facts.tsx';
import { Ago, Moment, Span } from './moments.tsx';

/** All that is known of a session that has no place of its own on the page. */
export function SessionFacts({ detail }: { readonly detail: SessionDetail }) {
  const { session, caller, keyId, emailHash, provider, upstreamId, endedAt, endedBy, usage, limits, metadata } = detail;
  return (
    <section class="card" aria-labelledby="facts-title">
      <h2 id="facts-title">The session</h2>
      <dl class="facts">
        <Fact name="Started">
          <Moment at={session.startedAt} />
        </Fact>
        <Fact name="Ended">{endedAt === null ? null : <Moment at={endedAt} />}</Fact>
        <Fact name="Length">
          <Span from={session.startedAt} to={endedAt} />
        </Fact>
        <Fact name="Seen">
          <Moment at={session.lastSeenAt} />{' '}
          <span class="soft">
            (<Ago at={session.lastSeenAt} />)
          </span>
        </Fact>
        <Fact name="Caller">
          {caller}
          {keyId === null ? '' : `, key ${keyId}`}
        </Fact>
        <Fact name="Subject">
          <code class="break">{emailHash}</code>
        </Fact>
        <Fact name="Provider">
          {provider} <code class="break">{upstreamId}</code>
        </Fact>
        <Fact name="Usage">
          {usage === undefined || usage === null
            ? null
            : `${countText(usage.tokens)} tokens, ${moneyText(usage.dollars)}`}
        </Fact>
        <Fact name="Ended by">
          {endedBy === null ? null : (
            <>
              {endedBy.actor}
              {endedBy.reason === null ? '' : `: ${endedBy.reason}`}
            </>
          )}
        </Fact>
        {Object.entries(limits ?? {}).map(([name, value]) => (
          <Fact key={name} name={limitName(name)}>
            {value === null ? null : limitText(value)}
          </Fact>
        ))}
      </dl>
      {metadata !== null && (
        <details>
          <summary>Metadata of the create</summary>
          <pre>{JSON.stringify(metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

/** `maxIdleSec`: `max idle, s`. */
function limitName(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const named = words.replace(/ sec$/, ', s').replace(/ minutes$/, ', min');
  return `${named.charAt(0).toUpperCase()}${named.slice(1)}`;
}

function limitText(value: unknown): string {
  if (typeof value === 'number') return countText(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
