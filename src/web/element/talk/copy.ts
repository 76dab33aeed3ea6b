import { icon, part } from '../dom.ts';
import type { Words } from '../words/words.ts';
import { talkIcons } from './icons.ts';

/** So long the button says that it did. */
const SAYS_MS = 3000;

export interface Copy {
  readonly element: HTMLElement;
  readonly show: (look: { readonly words: Words }) => void;
}

/** What was said, a line for each turn: who, and what. */
function textOf(captions: HTMLElement): string {
  // What is final comes first, though it stands last.
  const turns = [...captions.children].toReversed().flatMap((log) => [...log.children]);
  return turns.map(({ children: [who, what] }) => `${who?.textContent}: ${what?.textContent}\n`).join('');
}

/** The button that copies the captions; where the browser forbids it, it selects them for the visitor. @param tell says it to a screen reader */
export function createCopy(captions: HTMLElement, tell: (words: string) => void): Copy {
  const element = part('button', 'copy', icon(talkIcons.copy));
  element.type = 'button';
  let words: Words;
  let isDone = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function become(done: boolean): void {
    clearTimeout(timer);
    isDone = done;
    element.replaceChildren(icon(done ? talkIcons.done : talkIcons.copy));
    if (done) timer = setTimeout(() => become(false), SAYS_MS);
    name();
  }

  function name(): void {
    element.ariaLabel = isDone ? words.copied : words.copy;
    element.title = element.ariaLabel;
  }

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(textOf(captions));
      become(true);
      tell(words.copied);
    } catch {
      getSelection()?.selectAllChildren(captions);
      tell(words.selected);
    }
  }

  element.addEventListener('click', () => void copy());
  return {
    element,
    show(look) {
      ({ words } = look);
      element.hidden = captions.hidden;
      name();
    },
  };
}
