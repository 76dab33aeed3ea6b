import type { Call } from '../data/shapes.ts';
import { countText, moneyText } from '../words/format.ts';
import { reasonWords } from '../words/reasons.ts';
import { Span } from './moments.tsx';
import { Warning } from './view-states.tsx';

const HANG_UPS: Readonly<Partial<Record<Call['hangup'], string>>> = {
  asked: 'hanging up',
  confirmed: 'hung up',
  already_over: 'was over already',
  unconfirmed: 'hang-up unconfirmed: see whether it is still billed',
};

interface Props {
  /** The ref of the session. */
  readonly session: string;
  readonly calls: readonly Call[];
}

/** Its calls at the provider. */
export function Calls({ session, calls }: Props) {
  if (calls.length === 0) return null;
  return (
    <section class="card" aria-labelledby="calls-title">
      <h2 id="calls-title">Calls at the provider</h2>
      <ul class="calls">
        {calls.map((call) => (
          <li key={call.ref}>
            <CallFacts call={call} />
            <p>
              <a href={`/console/sessions/${session}/calls/${call.ref}`}>What happened in it</a>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** How a call went, what it used, and whether it was hung up. */
export function CallFacts({ call }: { readonly call: Call }) {
  return (
    <>
      <p>
        <b>{call.state}</b> {call.model}
        {call.openedAt !== null && (
          <>
            {' '}
            <Span from={call.openedAt} to={call.closedAt} />
          </>
        )}
        {call.closeReason !== null && <> {reasonWords(call.closeReason)}</>}
      </p>
      {call.providerCallId !== null && <code class="break">{call.providerCallId}</code>}
      <p class="soft">
        {countText(Object.values(call.tokens).reduce((sum, count) => sum + count, 0))} tokens,{' '}
        {moneyText(call.microDollars / 1e6)}
        {call.basis !== null && ` by ${call.basis}`}
        {call.gapSec > 0 && `, ${countText(call.gapSec)} s unheard`}
      </p>
      {call.hangup !== 'none' && (
        <p class={call.hangup === 'unconfirmed' ? 'problem' : 'soft'}>
          {call.hangup === 'unconfirmed' && <Warning />} {HANG_UPS[call.hangup]}
        </p>
      )}
    </>
  );
}
