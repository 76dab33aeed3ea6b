import { icon, make, part, say, type Part } from '../dom.ts';
import type { Words } from '../translations/message-types.ts';
import { talkIcons } from '../icons.ts';

/**
 * Asks the visitor to rate the conversation with one to five stars after it. An answer is optional, and can be changed by pressing another star.
 * @param rate sends the answer
 * @param tell announces it to screen readers
 */
export function createRating(rate: (value: number) => Promise<unknown>, tell: (words: string) => void): Part {
  const question = make('span');
  const stars = [1, 2, 3, 4, 5].map((value) => {
    const star = part('button', 'star', icon(talkIcons.star));
    star.type = 'button';
    star.addEventListener('click', () => void choose(value));
    return star;
  });
  const element = part('div', 'rating', question, make('div', {}, ...stars));
  element.role = 'group';
  let words: Words;
  let wasLive = false;
  let chosen = 0;

  async function choose(value: number): Promise<void> {
    try {
      await rate(value);
    } catch {
      // The visitor can press it again.
      return;
    }
    chosen = value;
    name();
    tell(words.rated);
  }

  function name(): void {
    say(question, chosen === 0 ? words.rate : words.rated);
    element.ariaLabel = words.rate;
    stars.forEach((star, at) => {
      star.ariaLabel = words.rating.replace('{rating}', String(at + 1));
      star.title = star.ariaLabel;
      star.ariaPressed = String(at + 1 === chosen);
      star.classList.toggle('on', at < chosen);
    });
  }

  return {
    element,
    show({ state: { phase, error, ended }, words: spoken }) {
      words = spoken;
      if (phase === 'connecting') [wasLive, chosen] = [false, 0];
      wasLive ||= phase === 'live';
      element.hidden = phase !== 'over' || !wasLive || error !== undefined || ended?.reason === 'resumed_elsewhere';
      name();
    },
  };
}
