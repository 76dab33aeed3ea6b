import { logOut, stranger } from '../data/identity.ts';
import { usePage } from '../parts/page.ts';

/** Somebody is logged in and has no role here: what they are, and what would give them one. */
export function ForbiddenPage() {
  usePage('No access');
  return (
    <main class="alone">
      <div class="card login">
        <h1>You may not see the console</h1>
        <dl class="facts">
          <div>
            <dt>Your address</dt>
            <dd>{stranger.value ?? 'unknown'}</dd>
          </div>
          <div>
            <dt>Your role</dt>
            <dd>none</dd>
          </div>
        </dl>
        <p>
          Ask whoever runs Switchboard to add the address to <code>OPERATOR_EMAILS</code>, or to{' '}
          <code>VIEWER_EMAILS</code> for reading only; or to the <code>admins</code> of a tenant.
        </p>
        <p>
          <button type="button" onClick={() => void logOut()}>
            Log out
          </button>
        </p>
      </div>
    </main>
  );
}
