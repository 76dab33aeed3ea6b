import { icon, make, part, say, type Part } from '../dom.ts';
import { icons } from '../icons.ts';

/**
 * The push-to-talk button, held with mouse, finger, Space or Enter. It is also released when the pointer leaves it, and when the button or the
 * page loses the focus.
 */
export function createHold(talk: (on: boolean) => void): Part {
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
    // Otherwise a finger that moves away stays captured by what it touched first, which may be the words on the button.
    const touched = target as Element;
    if (touched.hasPointerCapture(pointerId)) touched.releasePointerCapture(pointerId);
    // Only a focused element gets `blur` when the page loses the focus, and not every browser focuses a clicked button.
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
  // Assistive technology clicks without holding, so each click switches between on and off.
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
