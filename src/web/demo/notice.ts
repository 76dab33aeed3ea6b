import { element, say } from './elements.ts';

const notice = element('notice', HTMLElement);
const text = element('notice-text', HTMLElement);
const never = (): boolean => false;
let hasPassed = never;

/** What it is: something went wrong, the end is near, or it is over. */
type Kind = 'problem' | 'warning' | 'end';

element('notice-close', HTMLButtonElement).addEventListener('click', () => notify(''));
for (const type of ['focusin', 'scroll', 'resize']) addEventListener(type, place, { passive: true });

/** Shows what the visitor must know now, wherever they are on the page, until something else or `isOver`; an empty text shows nothing. */
export function notify(message: string, kind: Kind = 'problem', isOver = never): void {
  notice.hidden = message === '';
  notice.dataset['kind'] = kind;
  say(text, message);
  hasPassed = isOver;
  place();
}

/** Takes away what is over; call it about every second. */
export function reviewNotice(): void {
  if (hasPassed()) notify('');
}

/** It lies over the foot of the window, and over its head where it would hide what has the keyboard's focus. */
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
