import type { ConversationState } from '../conversation.ts';
import { say, type Part } from '../dom.ts';

/** How long the button asks whether the visitor really wants to end. */
const ASKS_MS = 5000;

/** Whether ending now would cut off what is being said. */
function isSaying({ isAgentSpeaking, isAgentOn, isVisitorSpeaking, isMuted }: ConversationState): boolean {
  return isAgentSpeaking || isAgentOn || (isVisitorSpeaking && !isMuted);
}

/** Makes the button that ends a conversation ask for a second press while somebody speaks. @param tell announces it to screen readers */
export function guardEnd(row: HTMLElement, end: HTMLElement, tell: (words: string) => void): Pick<Part, 'show'> {
  let look: Parameters<Part['show']>[0];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const text = end.lastElementChild as Element;

  function ask(on: boolean): void {
    clearTimeout(timer);
    timer = on ? setTimeout(() => ask(false), ASKS_MS) : undefined;
    say(text, on ? look.words.endNow : look.words.end);
  }

  // The row hears of a click before the button, which would end the conversation.
  row.addEventListener(
    'click',
    (event) => {
      const { state, words } = look;
      if (state.phase !== 'live' || !end.contains(event.target as Node)) return;
      const asks = timer === undefined && isSaying(state);
      ask(asks);
      if (!asks) return;
      event.stopPropagation();
      tell(words.endAgain);
    },
    { capture: true },
  );
  return {
    show(next) {
      look = next;
      if (timer === undefined) return;
      // The view has given the button its usual words again.
      if (look.state.phase === 'live') say(text, look.words.endNow);
      else ask(false);
    },
  };
}
