import type { WireEntry } from './wire.ts';

const KEPT = 60;
const arrows = { out: '→', in: '←', note: '·' } as const;
const spoken = { out: 'sent', in: 'received', note: '' } as const;

/** Adds an entry on top of the list; old ones fall off its end. */
export function logEntry(list: HTMLElement, { direction, via, title, body }: WireEntry): void {
  const entry = document.createElement('li');
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  const arrow = document.createElement('span');
  const hidden = document.createElement('span');
  const kind = document.createElement('span');
  const time = document.createElement('time');
  const text = document.createElement('pre');
  arrow.textContent = arrows[direction];
  arrow.setAttribute('aria-hidden', 'true');
  hidden.className = 'spoken';
  hidden.textContent = spoken[direction];
  kind.className = 'kind';
  kind.textContent = via;
  time.textContent = new Date().toLocaleTimeString('en-GB');
  text.textContent = body === '' ? 'Empty.' : body;
  summary.append(arrow, hidden, ` ${title} `, kind, time);
  details.append(summary, text);
  entry.className = `${direction} ${via}`;
  entry.append(details);
  list.prepend(entry);
  while (list.children.length > KEPT) list.lastElementChild?.remove();
}
