import type { Hangup } from '../../../machines/voice-call/types.ts';

/** Longer than a provider needs to hang up and confirm. The overview counts calls that have been closing for longer, and lists mark them. */
export const LATE_HANGUP_MS = 10_000;

/** The status of a hang-up, in words that follow "the hang-up" or stand alone: for filters and the interface description. */
export const HANGUP_WORDS: Readonly<Record<Hangup, string>> = {
  none: 'not begun: not asked for, or the provider has given no usable answer so far',
  asked: 'begun by the provider, not yet confirmed',
  confirmed: 'confirmed by the provider',
  already_over: 'not needed: the provider no longer knew the call',
  unconfirmed: 'unconfirmed: check whether the provider still bills the call',
};

interface HangupFacts {
  readonly hangup: Hangup;
  readonly hangupTries: number;
}

/** The status of the hang-up of one call, and how often the provider was asked for it. */
export function hangupText({ hangup, hangupTries }: HangupFacts): string {
  const tries = hangupTries === 1 ? '1 try' : `${hangupTries} tries`;
  if (hangup === 'none') return hangupTries === 0 ? 'not asked for' : `asked for in vain, ${tries}`;
  return hangupTries === 0 ? HANGUP_WORDS[hangup] : `${HANGUP_WORDS[hangup]}, ${tries}`;
}
