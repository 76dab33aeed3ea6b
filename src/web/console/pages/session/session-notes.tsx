import { auditOf } from '../../data/audit.ts';
import type { SessionDetail } from '../../data/shapes.ts';
import { actionWords } from '../../words/actions.ts';
import { countText } from '../../words/format.ts';
import { Code } from '../../parts/code.tsx';
import { Moment } from '../../parts/moments.tsx';

/** What others noted of the session: refusals, acts of operators, and times of which events may be missing. */
export function SessionNotes({ detail: { ref, refusals, audit, lost } }: { readonly detail: SessionDetail }) {
  return (
    <>
      {refusals.length > 0 && (
        <section class="card" aria-labelledby="refusals-title">
          <h2 id="refusals-title">Refusals of its subject</h2>
          <ul class="notes">
            {refusals.map(({ requestId, at, code, sentence }) => (
              <li key={requestId}>
                <Moment at={at} />{' '}
                <a href={`/console/refusals/${requestId}`}>
                  <Code code={code} />
                </a>{' '}
                {sentence}
              </li>
            ))}
          </ul>
        </section>
      )}
      {audit.length > 0 && (
        <section class="card" aria-labelledby="audit-title">
          <h2 id="audit-title">
            <a href={auditOf(ref)}>Audit</a>
          </h2>
          <ul class="notes">
            {audit.map(({ at, actor, action, reason }) => (
              <li key={`${at} ${action}`}>
                <Moment at={at} /> {actor} {actionWords(action)}
                {reason === null ? '' : `: ${reason}`}
              </li>
            ))}
          </ul>
        </section>
      )}
      {lost.length > 0 && (
        <section class="card" aria-labelledby="lost-title">
          <h2 id="lost-title">Events may be missing</h2>
          <ul class="notes">
            {lost.map(({ node, from, to, count }) => (
              <li key={`${node} ${from}`}>
                <Moment at={from} /> to <Moment at={to} />: {node === null ? 'a node' : `node ${node.slice(0, 6)}`} had
                no room for {countText(count)}, of whatever session
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
