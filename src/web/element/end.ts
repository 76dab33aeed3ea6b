import type { ConversationState } from './conversation.ts';
import { icon, part, say, make, type Part } from './dom.ts';
import { icons } from './icons.ts';
import type { MainWords } from './words/words.ts';

/** How long the button asks whether the visitor really wants to end. */
const ASKS_MS = 5000;

/** Whether ending now would cut off what is being said. */
function isSaying({ phase, isAgentSpeaking, isAgentOn, isVisitorSpeaking, isMuted }: ConversationState): boolean {
  return phase === 'live' && (isAgentSpeaking || isAgentOn || (isVisitorSpeaking && !isMuted));
}

/** The button that ends a conversation. While somebody speaks, it asks for a second press. @param tell announces it to screen readers */
export function createEnd(end: () => void, tell: (words: string) => void): Part<MainWords> {
  const text = make('span');
  const element = part('button', 'end', icon(icons.end), text);
  let look: Parameters<Part<MainWords>['show']>[0];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function ask(on: boolean): void {
    clearTimeout(timer);
    timer = on ? setTimeout(() => ask(false), ASKS_MS) : undefined;
    show(look);
  }

  function show(next: typeof look): void {
    look = next;
    const { words, state } = look;
    if (timer !== undefined && state.phase !== 'live') return ask(false);
    say(text, state.phase === 'connecting' ? words.cancel : timer === undefined ? words.end : words.endNow);
  }

  element.type = 'button';
  element.addEventListener('click', () => {
    const asks = timer === undefined && isSaying(look.state);
    ask(asks);
    if (asks) tell(look.words.endAgain);
    else end();
  });
  return { element, show };
}
