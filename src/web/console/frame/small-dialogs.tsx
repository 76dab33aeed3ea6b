import { isLoginLost } from '../data/api.ts';
import { isHelpOpen, textToCopy } from '../data/dialogs.ts';
import { access, identify, me, loginPath } from '../data/identity.ts';
import { refreshAll } from '../data/live.ts';
import { shownPlaces } from '../pages/all.ts';
import { LoginForm } from '../pages/login.tsx';
import { Modal } from '../components/modal.tsx';
import { SingleKeys } from './top-bar.tsx';

const keysOf = (): readonly (readonly [keys: string, what: string])[] => [
  ['/', 'search and go to; also Ctrl K or ⌘ K'],
  ['?', 'this help'],
  ...shownPlaces().map(({ key, title }) => [`g ${key}`, title] as const),
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['f', 'filter'],
  ['e', 'end what is selected or shown'],
  ['w', 'whisper to the agent of the session'],
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
        <SingleKeys />
        Keys without Ctrl or ⌘
      </label>
      <form method="dialog" class="buttons">
        <button autofocus>Close</button>
      </form>
    </Modal>
  );
}

/** For browsers that do not let pages copy, as is the case without HTTPS. */
export function CopyDialog() {
  const text = textToCopy.value;
  if (text === undefined) return null;
  return (
    <Modal title="Copy" onClose={() => (textToCopy.value = undefined)}>
      <h2>Copy it from here</h2>
      <textarea
        readOnly
        rows={6}
        aria-label="Text to copy"
        value={text}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <form method="dialog" class="buttons">
        <button>Close</button>
      </form>
    </Modal>
  );
}

/** When the login ends while somebody works, they log in on top of the page, and nothing on it is lost. */
export function LoginDialog() {
  if (!isLoginLost.value || access.value !== 'granted') return null;
  const close = (): void => {
    // It was closed without a login, so the page's contents must not stay visible.
    if (isLoginLost.peek()) location.assign(loginPath(location.pathname + location.search));
  };
  const goOn = async (): Promise<void> => {
    const before = me.peek()?.email;
    isLoginLost.value = false;
    await identify();
    // Somebody else has logged in, who must not see what the page shows.
    if (me.peek()?.email !== before) location.reload();
    await refreshAll();
  };
  return (
    <Modal title="Log in again" onClose={close}>
      <h2>Your login is over</h2>
      <p>Log in again to go on; the page stays as it is.</p>
      <LoginForm email={me.peek()?.email} onLogin={() => void goOn()} />
    </Modal>
  );
}
