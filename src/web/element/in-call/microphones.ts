import { icon, make, part, type Part } from '../dom.ts';
import { icons } from '../icons.ts';
import type { ConversationState } from '../conversation.ts';

/** The choice of microphones, shown once the visitor has allowed one and if there are several. */
export function createMicrophones(use: (deviceId: string) => void): Part {
  const select = part('select', 'microphone');
  const element = part('label', 'field', icon(icons.microphone), select);
  let shown: ConversationState['microphones'] = [];
  select.addEventListener('change', () => use(select.value));
  return {
    element,
    show({ state: { phase, microphones, microphone }, words }) {
      element.hidden = phase !== 'live' || microphones.length < 2;
      select.ariaLabel = words.microphone;
      if (shown !== microphones) {
        shown = microphones;
        select.replaceChildren(
          ...microphones.map(({ deviceId, label }, at) =>
            make('option', { value: deviceId }, label || `${words.microphone} ${at + 1}`),
          ),
        );
      }
      select.value = microphone ?? '';
    },
  };
}
