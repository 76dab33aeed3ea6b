import { element, make } from './elements.ts';

const MAX_LINES = 12;
const list = element('captions', HTMLOListElement);

/** Adds a line to the conversation. @returns a function that sets its text, which may grow */
export function addCaption(speaker: 'Visitor' | 'Guide' | 'Tool'): (text: string) => void {
  const line = make('li', speaker.toLowerCase());
  const words = make('span');
  line.append(make('b', '', speaker), ' ', words);
  list.append(line);
  while (list.children.length > MAX_LINES) list.firstElementChild?.remove();
  return (text) => {
    words.textContent = text;
    list.scrollTop = list.scrollHeight;
  };
}

export function clearCaptions(): void {
  list.replaceChildren();
}
