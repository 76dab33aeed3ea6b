import { auditOf, keyPage } from '../../data/links.ts';
import { ending } from '../../data/ending.ts';
import { queryText } from '../../data/query.ts';
import type { SessionDetail } from '../../data/shapes.ts';
import { Fact, IdFact, Section, TimeFact } from '../../components/card.tsx';
import { Ago, Countdown, Moment, Span } from '../../components/times.tsx';
import { moneyText } from '../../../../protocol/money.ts';
import { countText } from '../../labels/format.ts';
import { limitRows } from '../../labels/keys.ts';

/** Everything about a session that has no other place on the page. */
export function SessionFacts({ detail }: { readonly detail: SessionDetail }) {
  const { ref, session, tenantId, caller, keyId, emailHash, provider, upstreamId } = detail;
  const { endedAt, endedBy, usage, limits, metadata, hasContext, agentVersion, rating } = detail;
  return (
    <Section title="The session">
      <dl class="facts">
        <TimeFact name="Started" at={session.startedAt} />
        <TimeFact name="Ended" at={endedAt} />
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
        <IdFact name="Subject" id={emailHash} href={`/console/sessions${queryText({ subject: emailHash })}`} />
        <Fact name="Provider">
          {provider} <code class="break">{upstreamId}</code>
        </Fact>
        <Fact name="Agent’s version">{agentVersion == null ? null : <code>{agentVersion}</code>}</Fact>
        <Fact name="For its tools">{hasContext ? 'a context of its back end, which nobody is shown' : null}</Fact>
        <Fact name="Usage">
          {countText(usage.tokens)} tokens, {moneyText(usage.dollars)}
        </Fact>
        <Fact name="Rating">{rating == null ? null : `${rating} of 5, by its visitor`}</Fact>
        <Fact name="Operators">
          <a href={auditOf(ref)}>What they did to it, in the audit</a>
        </Fact>
        <Fact name="Ended by">
          {endedBy === null ? null : (
            <>
              {endedBy.actor}
              {endedBy.reason === null ? '' : `: ${endedBy.reason}`}
            </>
          )}
        </Fact>
      </dl>
      <details>
        <summary>Limits, and what sets them</summary>
        <table class="plain">
          <caption class="unseen">Limits that hold now</caption>
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
    </Section>
  );
}

/** Periods from which events may be missing in the history. */
export function SessionNotes({ detail: { lost } }: { readonly detail: SessionDetail }) {
  if (lost.length === 0) return null;
  return (
    <Section title="Events may be missing">
      <ul class="notes">
        {lost.map(({ node, from, to, count }) => (
          <li key={`${node} ${from}`}>
            <Moment at={from} /> to <Moment at={to} />: {node === null ? 'a node' : `node ${node.slice(0, 6)}`} had no
            room for {countText(count)}, of whatever session
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The sentence that matters most: why the session ended, or what ends it next. */
export function Why({ detail }: { readonly detail: SessionDetail }) {
  const { why, ref, state } = detail;
  return (
    <div class="why">
      <p>{why.sentence}</p>
      {why.facts.length > 0 && (
        <ul class="soft">
          {why.facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {state !== 'ended' && (ending.value.has(ref) ? <p class="next">ending…</p> : <NextDeadline detail={detail} />)}
    </div>
  );
}

/** A countdown by the server's clock. */
function NextDeadline({ detail: { deadline } }: { readonly detail: SessionDetail }) {
  if (deadline === null) return null;
  const { at, to } = deadline;
  const what = to === 'ended' ? 'ends' : `becomes ${to}`;
  return (
    <p class="next">
      By the clock alone it {what}{' '}
      <b>
        <Countdown to={at} />
      </b>{' '}
      <span class="soft">
        (<Moment at={at} />)
      </span>
    </p>
  );
}
