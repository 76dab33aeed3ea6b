import { isHelpOpen } from '../data/dialogs.ts';
import { singleKeys } from '../data/preferences.ts';
import { shownPlaces } from '../pages/all.ts';
import { Modal } from '../parts/modal.tsx';

const keysOf = (): readonly (readonly [keys: string, what: string])[] => [
  ['/', 'search and go to; also Ctrl K or ⌘ K'],
  ['?', 'this help'],
  ...shownPlaces().map(({ key, title }) => [`g ${key}`, title] as const),
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['f', 'filter'],
  ['e', 'end what is selected or shown'],
  ['p', 'pause, or follow again'],
  ['t', 'UTC or local time'],
  ['[ ]', 'step to the older, the newer event'],
  ['Home End', 'step to the start, to now'],
  ['y', 'copy the link'],
  ['Y', 'copy as curl'],
  ['Esc', 'back'],
];

export function HelpDialog() {
  if (!isHelpOpen.value) return null;
  return (
    <Modal title="Keys" class="help" onClose={() => (isHelpOpen.value = false)}>
      <h2>Keys</h2>
      <dl class="keys">
        {keysOf().map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={singleKeys.value === 'on'}
          onChange={({ currentTarget }) => (singleKeys.value = currentTarget.checked ? 'on' : 'off')}
        />
        Keys without Ctrl or ⌘
      </label>
      <form method="dialog" class="buttons">
        <button autofocus>Close</button>
      </form>
    </Modal>
  );
}
