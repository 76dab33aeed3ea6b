import type { ComponentChildren } from 'preact';
import { HANGUP_WORDS } from '../../../protocol/languages/hangups.ts';
import type { Call } from '../data/shapes.ts';
import { countText, moneyText, sumOf } from '../words/format.ts';
import { reasonWords } from '../words/reasons.ts';
import { Fact } from './card.tsx';
import { Span } from './moments.tsx';
import { Warning } from './view-states.tsx';

/** How its usage is known. */
const BASES: Readonly<Record<NonNullable<Call['basis']>, string>> = {
  events: 'as the provider told',
  clock: 'reckoned from its length',
  reported: 'as its page reported',
  tool: 'by the price of its tools',
};

interface Props {
  readonly calls: readonly Call[];
}

/** Its calls at the provider. */
export function Calls({ calls }: Props) {
  if (calls.length === 0) return null;
  return (
    <section class="card" aria-labelledby="calls-title">
      <h2 id="calls-title">Calls at the provider</h2>
      <ul class="calls">
        {calls.map((call) => (
          <li key={call.ref}>
            <CallFacts call={call} />
            <p>
              <a href={`/console/calls/${call.ref}`}>What happened in it</a>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FactsProps {
  readonly call: Call;
  /** More facts, below. */
  readonly children?: ComponentChildren;
}

/** How a call went, what it used, and whether it was hung up. */
export function CallFacts({ call, children }: FactsProps) {
  const {
    state,
    model,
    openedAt,
    closedAt,
    closeReason,
    providerCallId,
    tokens,
    basis,
    gapSec,
    hangup,
    hangupTries,
    microDollars,
    estimatedMicroDollars,
  } = call;
  return (
    <dl class="facts">
      <Fact name="State">
        <b>{state}</b>
        {closeReason !== null && <>, {reasonWords(closeReason)}</>}
      </Fact>
      <Fact name="Model">{model}</Fact>
      <Fact name="Length">{openedAt === null ? null : <Span from={openedAt} to={closedAt} />}</Fact>
      <Fact name="Provider’s id">{providerCallId === null ? null : <code class="break">{providerCallId}</code>}</Fact>
      <Fact name="Usage">
        {countText(sumOf(tokens))} tokens, {moneyText(microDollars / 1e6)}
        {estimatedMicroDollars > 0 && ` (${moneyText(estimatedMicroDollars / 1e6)} of it estimated)`}
        {basis !== null && `, ${BASES[basis]}`}
        {gapSec > 0 && `, ${countText(gapSec)} s unheard`}
      </Fact>
      <Fact name="Hang-up">
        <HangUp hangup={hangup}>{HANGUP_WORDS[hangup]}</HangUp>
        {hangupTries > 0 && `, ${hangupTries === 1 ? '1 try' : `${countText(hangupTries)} tries`}`}
      </Fact>
      {children}
    </dl>
  );
}

type Hangup = Call['hangup'];

export const HANGUP_NAMES = Object.keys(HANGUP_WORDS) as readonly Hangup[];

/** What is known of a hang-up, in few words. */
export function hangupWords(hangup: Hangup): string {
  return HANGUP_WORDS[hangup].split(/[,:]/)[0] ?? hangup;
}

interface HangUpProps {
  readonly hangup: Hangup;
  readonly children: ComponentChildren;
}

/** Words for a hang-up; one that was given up has a shape as well, because the provider may go on billing. */
export function HangUp({ hangup, children }: HangUpProps) {
  if (hangup !== 'unconfirmed') return <>{children}</>;
  return (
    <span class="problem">
      <Warning /> {children}
    </span>
  );
}
