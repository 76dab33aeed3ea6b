import { isWithoutMicrophone, type ConversationState } from '../conversation.ts';
import { part, say } from '../dom.ts';
import type { Words } from '../words/words.ts';

export interface Instead {
  readonly element: HTMLElement;
  readonly show: (look: { readonly state: ConversationState; readonly words: Words }) => void;
}

/** The button that switches to writing, at any time and when the microphone is refused or missing, and back to speaking. */
export function createInstead(write: (on: boolean) => void): Instead {
  const element = part('button', 'instead');
  element.type = 'button';
  let offersWriting = true;
  element.addEventListener('click', () => write(offersWriting));
  return {
    element,
    show({ state: { phase, isWritten, canSwitch, error }, words }) {
      const isRefused = phase === 'over' && error !== undefined && isWithoutMicrophone(error);
      offersWriting = isRefused || !isWritten;
      element.hidden = !isRefused && (phase !== 'live' || !canSwitch);
      say(element, offersWriting ? words.writeInstead : words.speakInstead);
    },
  };
}
