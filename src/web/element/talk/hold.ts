import { icon, make, part, say } from '../dom.ts';
import { icons } from '../icons.ts';
import type { ConversationState } from '../conversation.ts';
import type { Words } from '../words/words.ts';

export interface Hold {
  readonly element: HTMLElement;
  readonly show: (look: { readonly state: ConversationState; readonly words: Words }) => void;
}

/**
 * The button that visitors of some agents hold while they speak: by mouse, finger, Space or Enter. It is let go of as well when the pointer
 * leaves it, and when it or the page loses the focus.
 */
export function createHold(talk: (on: boolean) => void): Hold {
  const text = make('span');
  const element = part('button', 'hold', icon(icons.microphone), text);
  element.type = 'button';
  let isHeld = false;

  const press = (on: boolean): void => {
    if (on !== isHeld) talk((isHeld = on));
  };
  const release = (): void => press(false);
  const isKey = ({ key }: KeyboardEvent): boolean => key === ' ' || key === 'Enter';

  element.addEventListener('pointerdown', ({ button, pointerId, target }) => {
    if (button !== 0) return;
    // A finger that moves away keeps otherwise what it touched first, which may be the words on the button.
    const touched = target as Element;
    if (touched.hasPointerCapture(pointerId)) touched.releasePointerCapture(pointerId);
    // What has the focus loses it together with the page; not every browser focuses what is clicked.
    element.focus();
    press(true);
  });
  for (const type of ['pointerup', 'pointercancel', 'pointerleave', 'blur']) element.addEventListener(type, release);
  element.addEventListener('keydown', (event) => {
    if (!isKey(event)) return;
    event.preventDefault();
    if (!event.repeat) press(true);
  });
  element.addEventListener('keyup', (event) => {
    if (!isKey(event)) return;
    event.preventDefault();
    release();
  });
  // Assistive technology presses and lets go at once: there it is on until the next time.
  element.addEventListener('click', ({ detail }) => detail === 0 && press(!isHeld));
  element.addEventListener('contextmenu', (event) => event.preventDefault());

  return {
    element,
    show({ state: { phase, isPush, isWritten, isTalking }, words }) {
      isHeld = isTalking;
      element.hidden = phase !== 'live' || !isPush || isWritten;
      element.ariaPressed = String(isTalking);
      say(text, words.hold);
    },
  };
}
