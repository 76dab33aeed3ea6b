import type { Transcript } from '../widget/api.ts';
import { make, part, say } from './dom.ts';
import type { MainWords } from './translations/message-types.ts';

export interface Captions {
  readonly element: HTMLElement;
  readonly add: (transcript: Transcript, words: MainWords) => void;
  readonly isEmpty: () => boolean;
  readonly clear: () => void;
  readonly rename: (words: MainWords) => void;
}

/** Shows what was said. Screen readers get only final turns, so that they do not read a turn again for each word that is added to it. */
export function createCaptions(): Captions {
  const log = part('div', 'log');
  const growing = part('div', 'log');
  const element = part('div', 'captions', growing, log);
  element.tabIndex = 0;
  element.role = 'log';
  element.ariaLive = 'polite';
  growing.ariaHidden = 'true';
  /** Also those that are final, because an interruption may be reported after the last word. */
  const turns = new Map<string, HTMLElement>();

  function turnOf({ id, who }: Transcript, words: MainWords): HTMLElement {
    const known = turns.get(id);
    if (known !== undefined) return known;
    // A turn that was interrupted may never become final.
    log.append(...growing.querySelectorAll(`.${who}`));
    const turn = make('p', { class: who, part: `caption ${who}` }, make('b'), make('span'));
    say(turn.firstElementChild as Element, words[who]);
    turns.set(id, turn);
    growing.append(turn);
    return turn;
  }

  return {
    element,
    add(transcript, words) {
      const { text, final } = transcript;
      const turn = turnOf(transcript, words);
      say(turn.lastElementChild as Element, text);
      if (final) {
        if (text.trim() === '') turn.remove();
        else if (turn.parentNode !== log) log.append(turn);
      }
    },
    isEmpty: () => log.childElementCount + growing.childElementCount === 0,
    clear() {
      log.replaceChildren();
      growing.replaceChildren();
      turns.clear();
    },
    rename(words) {
      element.ariaLabel = words.captions;
    },
  };
}
