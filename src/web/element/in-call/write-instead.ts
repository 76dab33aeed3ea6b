import { isWithoutMicrophone } from '../conversation.ts';
import { part, say, type Part } from '../dom.ts';

/** The button that switches to writing, at any time and when the microphone is refused or missing, and back to speaking. */
export function createInstead(write: (on: boolean) => void): Part {
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
