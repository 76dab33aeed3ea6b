import { element, say } from './elements.ts';

const notice = element('notice', HTMLElement);
const never = (): boolean => false;
let hasPassed = never;

/** Shows what the visitor must know now, until something else or `isOver`; an empty text shows nothing. */
export function notify(text: string, kind: 'problem' | 'warning' = 'problem', isOver = never): void {
  say(notice, text);
  notice.dataset['kind'] = kind;
  hasPassed = isOver;
}

/** Takes away what is over; call it about every second. */
export function reviewNotice(): void {
  if (hasPassed()) notify('');
}
