/** What a view shows while it has nothing to show, and why. */
import type { ComponentChildren } from 'preact';
import { isForbidden, isPassing, type Failure } from '../data/api.ts';
import { copy } from '../data/dialogs.ts';
import { me } from '../data/identity.ts';
import { refreshAll } from '../data/live.ts';
import type { Resource } from '../data/resource.ts';
import { Icon } from './icons.tsx';

/** It comes after a moment only: most answers are quicker. */
export function Loading({ rows = 6 }: { readonly rows?: number | undefined }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} />
      ))}
    </div>
  );
}

/** A page of which nothing was read yet: it comes, or why it does not. @param rows as many as it will have, about */
export function Unread({ title, resource, what, rows }: UnreadProps) {
  const why = resource.failure.value;
  return (
    <div class="page">
      <h1>{title}</h1>
      {why === undefined ? <Loading rows={rows} /> : <Failed failure={why} what={what} />}
    </div>
  );
}

interface UnreadProps {
  readonly title: string;
  readonly resource: Pick<Resource<unknown>, 'failure'>;
  /** As in "You may not see …". */
  readonly what: string;
  readonly rows?: number;
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** There is nothing to list of tenants. @param tenantId that the page is about; empty for all */
export function NoTenant({ tenantId }: { readonly tenantId: string }) {
  return (
    <Empty title={tenantId === '' ? 'There is no tenant yet' : 'There is no such tenant'}>
      <p>
        Tenants come from <code>TENANTS_FILE</code>.
      </p>
    </Empty>
  );
}

export function wordsOf(failure: Failure): string {
  if (failure.kind === 'refused') return failure.message;
  if (failure.kind === 'login') return 'Your login is over.';
  return failure.kind === 'missing' ? 'There is no such thing any more.' : 'The service did not answer.';
}

/**
 * Over what was read before, where it cannot be read anew. That the service is away is said at the top of the page, and a lost login by its
 * dialog.
 */
export function Outdated({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || isPassing(failure) || failure.kind === 'login') return null;
  return (
    <div class="banner" role="alert">
      <Warning /> {wordsOf(failure)} What you see was read before.{' '}
      <button type="button" onClick={() => void refreshAll()}>
        Try again
      </button>
    </div>
  );
}

/** Why there is no answer, what can be done, and the request id that the log knows it by. */
export function Failed({ failure, what }: { readonly failure: Failure; readonly what: string }) {
  if (failure.kind === 'missing')
    return (
      <Empty title="There is no such thing">
        <p>Nothing is known of {what}: it may be so old that it was deleted, or you may not see it.</p>
      </Empty>
    );
  // The login's dialog is over the page already.
  if (failure.kind === 'login') return <Empty title="Log in to see it" />;
  if (failure.kind === 'away')
    return (
      <Empty title="The service does not answer">
        <p>It is asked again by itself.</p>
        <Again />
      </Empty>
    );
  if (isForbidden(failure)) return <Forbidden what={what} />;
  const { message, details, requestId } = failure;
  return (
    <div class="empty" role="alert">
      <p class="empty-title">
        <Warning /> {message}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message: wrong }) => (
            <li key={path}>
              <code>{path}</code> {wrong}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && (
        <p>
          Request <code>{requestId}</code>{' '}
          <button type="button" class="quiet" onClick={() => void copy(requestId, 'Request id')}>
            Copy
          </button>
        </p>
      )}
      <Again />
    </div>
  );
}

/** Who looks has a role, and it is not enough: which it is, and what would be. */
function Forbidden({ what }: { readonly what: string }) {
  const { email, role } = me.value ?? {};
  return (
    <Empty title={`You may not see ${what}`}>
      <p>
        You are {email ?? 'unknown'}, {role?.replaceAll('_', ' ') ?? 'without a role'}. <code>VIEWER_EMAILS</code> and{' '}
        <code>OPERATOR_EMAILS</code> grant it.
      </p>
    </Empty>
  );
}

function Again() {
  return (
    <p>
      <button type="button" onClick={() => void refreshAll()}>
        Try again
      </button>
    </p>
  );
}

/** Danger and doubt have a shape as well as a colour. */
export function Warning() {
  return (
    <Icon class="icon warning">
      <path d="M8 1.5 15 14H1z" />
      <path class="ink" d="M8 6v4M8 11.6v.9" />
    </Icon>
  );
}

interface ShownProps<T> {
  readonly resource: Pick<Resource<T>, 'body' | 'failure'>;
  /** As in "This server does not have …". */
  readonly what: string;
  readonly children: (body: T) => ComponentChildren;
}

/** What was read, or why there is nothing. What is shown stays whatever comes of reading it anew, unless it is not for who looks any more. */
export function Shown<T>({ resource: { body, failure }, what, children }: ShownProps<T>) {
  const why = failure.value;
  if (why !== undefined && (body.value === undefined || isForbidden(why))) return <Failed failure={why} what={what} />;
  if (body.value === undefined) return <Loading />;
  return (
    <>
      <Outdated failure={why} />
      {children(body.value)}
    </>
  );
}

/** In the place of a page whose program did not come: the service was away, or is another version by now. */
export function Unloaded() {
  return (
    <div class="page">
      <div class="empty">
        <h1>This page could not be loaded</h1>
        <p>The service did not answer, or is a newer version than this window.</p>
        <p>
          <button type="button" onClick={() => location.reload()}>
            Load the console again
          </button>
        </p>
      </div>
    </div>
  );
}
