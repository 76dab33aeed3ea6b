import type { Hangup } from '../../../machines/voice-call/types.ts';

/** What is known of a hang-up, in words that follow "the hang-up" or stand alone: for the console, `why` and the interface description. */
export const HANGUP_WORDS: Readonly<Record<Hangup, string>> = {
  none: 'not asked for',
  asked: 'begun by the provider, not yet confirmed',
  confirmed: 'confirmed by the provider',
  already_over: 'not needed: the provider knew the call no more',
  unconfirmed: 'unconfirmed: see whether the provider still bills the call',
};
