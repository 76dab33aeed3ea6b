import { icon, part, type Part } from '../dom.ts';
import type { Words } from '../translations/message-types.ts';
import { talkIcons } from '../icons.ts';

/** How long the button shows that it has copied. */
const SAYS_MS = 3000;

/** The captions as text: one line for each turn, with its speaker. */
function textOf(captions: HTMLElement): string {
  // The log of final turns is the last child, but comes first in the text.
  const turns = [...captions.children].toReversed().flatMap((log) => [...log.children]);
  return turns.map(({ children: [who, what] }) => `${who?.textContent}: ${what?.textContent}\n`).join('');
}

/** The button that copies the captions, or selects them if the browser forbids copying. @param tell announces it to screen readers */
export function createCopy(captions: HTMLElement, tell: (words: string) => void): Part {
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
