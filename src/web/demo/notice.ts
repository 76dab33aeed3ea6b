import { element, say } from './elements.ts';

const notice = element('notice', HTMLElement);
const text = element('notice-text', HTMLElement);
const never = (): boolean => false;
let hasPassed = never;

/** Something went wrong, the session is about to end, or it is over. */
type Kind = 'problem' | 'warning' | 'end';

element('notice-close', HTMLButtonElement).addEventListener('click', () => notify(''));
for (const type of ['focusin', 'scroll', 'resize']) addEventListener(type, place, { passive: true });

/** Shows a message wherever the visitor is on the page, until the next one or until `isOver` returns true; an empty text hides it. */
export function notify(message: string, kind: Kind = 'problem', isOver = never): void {
  notice.hidden = message === '';
  notice.dataset['kind'] = kind;
  say(text, message);
  hasPassed = isOver;
  place();
}

/** Hides a message that no longer applies. Must be called about once a second. */
export function reviewNotice(): void {
  if (hasPassed()) notify('');
}

/** Places it at the foot of the window, or at its head if it would hide the element with the keyboard focus. */
function place(): void {
  if (notice.hidden) return;
  const focused = focusedIn(document);
  notice.dataset['edge'] = 'foot';
  if (focused === null || focused === document.body || notice.contains(focused)) return;
  const { top } = notice.getBoundingClientRect();
  const { top: upper, bottom } = focused.getBoundingClientRect();
  if (bottom > top && upper < innerHeight) notice.dataset['edge'] = 'head';
}

function focusedIn({ activeElement }: DocumentOrShadowRoot): Element | null {
  return activeElement?.shadowRoot?.activeElement ?? activeElement;
}
