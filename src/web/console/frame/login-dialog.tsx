import { isLoginLost } from '../data/api.ts';
import { access, identify, me } from '../data/identity.ts';
import { refreshAll } from '../data/live.ts';
import { loginPath } from '../data/next-path.ts';
import { LoginForm } from '../parts/login-form.tsx';
import { Modal } from '../parts/modal.tsx';

/** The login is over while somebody works: they log in over the page, and nothing on it is lost. */
export function LoginDialog() {
  if (!isLoginLost.value || access.value !== 'granted') return null;
  const leave = (): void => {
    // Closed without a login: then what the page shows is not theirs to see.
    if (isLoginLost.peek()) location.assign(loginPath(location.pathname + location.search));
  };
  const goOn = async (): Promise<void> => {
    isLoginLost.value = false;
    await identify();
    await refreshAll();
  };
  return (
    <Modal title="Log in again" class="login-again" onClose={leave}>
      <h2>Your login is over</h2>
      <p>Log in again to go on; the page stays as it is.</p>
      <LoginForm email={me.peek()?.email} onLogin={() => void goOn()} />
    </Modal>
  );
}
