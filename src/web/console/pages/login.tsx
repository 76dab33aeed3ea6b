import { useLocation } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { get } from '../data/api.ts';
import { access } from '../data/identity.ts';
import { nextPath } from '../data/next-path.ts';
import { Mark } from '../components/icons.tsx';
import { LoginForm } from '../components/login-form.tsx';
import { usePage } from '../components/page-title.ts';

export function LoginPage() {
  const { query, route } = useLocation();
  usePage('Log in');
  const enter = (): void => {
    access.value = 'unknown';
    route(nextPath(query['next']), true);
  };
  useEffect(() => {
    // Someone who is already logged in goes straight on.
    void get('/api/auth/session').then(({ ok }) => ok && enter());
  }, []);
  return (
    <main class="alone">
      <div class="card login">
        <p class="wordmark">
          <Mark /> Switchboard
        </p>
        <h1>Log in to the console</h1>
        <LoginForm onLogin={enter} />
      </div>
    </main>
  );
}
