import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { HANGUP_WORDS, hangupText, LATE_HANGUP_MS } from '../../../protocol/operator/hangup.ts';
import { now } from '../data/server-time.ts';
import type { Call } from '../data/shapes.ts';
import { moneyText } from '../../../protocol/money.ts';
import { countText, sumOf } from '../labels/format.ts';
import { reasonWords } from '../labels/sessions.ts';
import { Fact, IdFact, Section } from './card.tsx';
import { Span } from './times.tsx';
import { Problem } from './view-states.tsx';

/** How a call's usage is known. */
const BASES: Readonly<Record<NonNullable<Call['basis']>, string>> = {
  events: 'as the provider told',
  clock: 'reckoned from its length',
  reported: 'as its page reported',
  tool: 'by the price of its tools',
};

interface Props {
  readonly calls: readonly Call[];
}

/** A session's calls at the provider. */
export function Calls({ calls }: Props) {
  if (calls.length === 0) return null;
  return (
    <Section title="Calls at the provider">
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
    </Section>
  );
}

interface FactsProps {
  readonly call: Call;
  /** Further facts, shown below. */
  readonly children?: ComponentChildren;
}

/** How a call went, what it used, and whether it was hung up. */
export function CallFacts({ call, children }: FactsProps) {
  const { state, model, openedAt, closedAt, closeReason, providerCallId } = call;
  const { tokens, basis, gapSec, microDollars, estimatedMicroDollars } = call;
  return (
    <dl class="facts">
      <Fact name="State">
        <b>{state}</b>
        {closeReason !== null && <>, {reasonWords(closeReason)}</>}
      </Fact>
      <Fact name="Model">{model}</Fact>
      <Fact name="Length">{openedAt === null ? null : <Span from={openedAt} to={closedAt} />}</Fact>
      <IdFact name="Provider’s id" id={providerCallId} />
      <Fact name="Usage">
        {countText(sumOf(tokens))} tokens, {moneyText(microDollars / 1e6)}
        {estimatedMicroDollars > 0 && ` (${moneyText(estimatedMicroDollars / 1e6)} of it estimated)`}
        {basis !== null && `, ${BASES[basis]}`}
        {gapSec > 0 && `, ${countText(gapSec)} s unheard`}
      </Fact>
      <Fact name="Hang-up">
        <HangUp call={call}>{hangupText(call)}</HangUp>
      </Fact>
      {children}
    </dl>
  );
}

type Hangup = Call['hangup'];

/** All statuses of a hang-up, with their words in a filter. */
export const HANGUPS = Object.entries(HANGUP_WORDS).map(([name, words]) => [name as Hangup, firstOf(words)] as const);

/** The status of a call's hang-up in few words. */
export function hangupWords(call: Call): string {
  return firstOf(hangupText(call));
}

function firstOf(words: string): string {
  return words.split(/[,:]/)[0] ?? words;
}

interface HangUpProps {
  readonly call: Call;
  readonly children: ComponentChildren;
}

/** Marks a hang-up with a warning if the provider may still be billing: it was given up, or has long been unconfirmed. */
export function HangUp({ call: { state, hangup, closingAt, overAt }, children }: HangUpProps) {
  const lateAtMs =
    state !== 'closing' || closingAt == null ? Infinity : Date.parse(overAt ?? closingAt) + LATE_HANGUP_MS;
  const isLate = useComputed(() => now.value >= lateAtMs).value;
  if (hangup !== 'unconfirmed' && !isLate) return <>{children}</>;
  return <Problem>{children}</Problem>;
}
