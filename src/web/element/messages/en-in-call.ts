import type { TalkWords } from './message-types.ts';

/** The English texts that only a conversation needs. */
export const enTalk: TalkWords = {
  endNow: 'End now?',
  endAgain: 'Press again to end the conversation.',
  hold: 'Hold to speak',
  copy: 'Copy the conversation',
  copied: 'Copied',
  selected: 'The conversation is selected: copy it now.',
  rate: 'How was this conversation?',
  rating: '{rating} of 5',
  rated: 'Thank you!',
  microphone: 'Microphone',
  writeInstead: 'Write instead',
  speakInstead: 'Speak instead',
};
