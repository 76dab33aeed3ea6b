import { auditOf } from '../../data/audit.ts';
import type { SessionDetail } from '../../data/shapes.ts';
import { keyPage } from '../../data/keys.ts';
import { queryText } from '../../data/query.ts';
import { countText, moneyText } from '../../words/format.ts';
import { limitRows } from '../../words/limits.ts';
import { Fact } from '../../parts/facts.tsx';
import { Ago, Moment, Span } from '../../parts/moments.tsx';

/** All that is known of a session that has no place of its own on the page. */
export function SessionFacts({ detail }: { readonly detail: SessionDetail }) {
  const { ref, session, tenantId, caller, keyId, emailHash, provider, upstreamId } = detail;
  const { endedAt, endedBy, usage, limits, metadata } = detail;
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
          {keyId !== null && (
            <>
              , key <a href={keyPage({ tenantId, id: keyId })}>{keyId}</a>
            </>
          )}
        </Fact>
        <Fact name="Subject">
          <a href={`/console/sessions${queryText({ subject: emailHash })}`}>
            <code class="break">{emailHash}</code>
          </a>
        </Fact>
        <Fact name="Provider">
          {provider} <code class="break">{upstreamId}</code>
        </Fact>
        <Fact name="Usage">
          {countText(usage.tokens)} tokens, {moneyText(usage.dollars)}
        </Fact>
        <Fact name="Ended by">
          {endedBy === null ? null : (
            <>
              {endedBy.actor}
              {endedBy.reason === null ? '' : `: ${endedBy.reason}`} <a href={auditOf(ref)}>in the audit</a>
            </>
          )}
        </Fact>
      </dl>
      <details>
        <summary>Limits, and what sets them</summary>
        <table class="plain">
          <caption class="hidden">Limits that hold now</caption>
          <tbody>
            {limitRows(limits).map(({ name, value, setBy }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{value}</td>
                <td>
                  <code class="break">{setBy}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
      {metadata !== null && (
        <details>
          <summary>Metadata of the create</summary>
          <pre>{JSON.stringify(metadata, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}
