/** What a view shows while it has nothing to show, and why. */
import type { ComponentChildren } from 'preact';
import { isForbidden, isPassing, type Failure, type Refusal } from '../data/api.ts';
import { copy } from '../data/dialogs.ts';
import { me } from '../data/identity.ts';
import { isFeedOpen } from '../data/feed.ts';
import { isUnread, refreshAll } from '../data/live.ts';
import type { Resource } from '../data/resource.ts';
import { Icon } from './icons.tsx';

/** Appears only after a moment, because most answers are faster. */
export function Loading({ rows = 6 }: { readonly rows?: number | undefined }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} />
      ))}
    </div>
  );
}

/** What was read, unless the operator may no longer see it. */
export function knownOf<T>({ body, failure }: Pick<Resource<T>, 'body' | 'failure'>): T | undefined {
  return failure.value !== undefined && isForbidden(failure.value) ? undefined : body.value;
}

interface EmptyProps {
  readonly title: string;
  readonly hint?: string;
  /** Where there is more, and what that is. */
  readonly link?: readonly [href: string, words: string];
  readonly children?: ComponentChildren;
}

export function Empty({ title, hint, link, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint !== undefined && <p>{hint}</p>}
      {children}
      {link !== undefined && (
        <p>
          <a href={link[0]}>{link[1]}</a>
        </p>
      )}
    </div>
  );
}

/** Shown if there is no tenant to list anything of. @param tenantId the tenant in scope; empty for all */
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
 * Shown above what was read before, if it cannot be read again. If the service or its database is away, the top of the page says so; if the
 * login has ended, a dialog does.
 */
export function Outdated({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || failure.kind === 'login') return null;
  // While the feed is open, the top of the page does not notice that one request fails.
  if (isPassing(failure) && (!isFeedOpen.value || isUnread.value)) return null;
  return (
    <div class="banner" role="alert">
      <Warning /> {wordsOf(failure)} What you see was read before. <TryAgain />
    </div>
  );
}

/** Why there is no answer, what to do about it, and the request id under which the log has it. */
export function Failed({ failure, what }: { readonly failure: Failure; readonly what: string }) {
  if (failure.kind === 'missing')
    return (
      <Empty title="There is no such thing">
        <p>Nothing is known of {what}: it may be so old that it was deleted, or you may not see it.</p>
      </Empty>
    );
  // The login dialog is already on top of the page.
  if (failure.kind === 'login') return <Empty title="Log in to see it" />;
  if (failure.kind === 'away')
    return (
      <Empty title="The service does not answer">
        <p>It is asked again by itself.</p>
        <p>
          <TryAgain />
        </p>
      </Empty>
    );
  if (isForbidden(failure)) return <Forbidden what={what} />;
  const { message, details, requestId } = failure;
  return (
    <div class="empty" role="alert">
      <p class="empty-title">
        <Warning /> {message}
      </p>
      <Details of={details} />
      {requestId !== undefined && (
        <p>
          Request <code>{requestId}</code>{' '}
          <button type="button" class="quiet" onClick={() => void copy(requestId, 'Request id')}>
            Copy
          </button>
        </p>
      )}
      <p>
        <TryAgain />
      </p>
    </div>
  );
}

/** Which fields of a refused request are wrong. */
export function Details({ of }: { readonly of: Refusal['details'] }) {
  if (of.length === 0) return null;
  return (
    <ul>
      {of.map(({ path, message }) => (
        <li key={path}>
          <code>{path}</code> {message}
        </li>
      ))}
    </ul>
  );
}

/** The operator's role is not sufficient: says which it is, and which would be. */
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

function TryAgain() {
  return (
    <button type="button" onClick={() => void refreshAll()}>
      Try again
    </button>
  );
}

/** The warning sign. Danger and doubt must not be shown by colour alone. */
export function Warning() {
  return (
    <Icon class="icon warning">
      <path d="M8 1.5 15 14H1z" />
      <path class="ink" d="M8 6v4M8 11.6v.9" />
    </Icon>
  );
}

/** Something that is wrong, in a line of other things. */
export function Problem({ children }: { readonly children: ComponentChildren }) {
  return (
    <span class="problem">
      <Warning /> {children}
    </span>
  );
}

interface ShownProps<T> {
  readonly resource: Pick<Resource<T>, 'body' | 'failure'>;
  /** What completes "You may not see …". */
  readonly what: string;
  /** About how many rows it will have. */
  readonly rows?: number;
  readonly children: (body: T) => ComponentChildren;
}

/** What was read, or why there is nothing. It stays when a later reading fails, unless the operator may no longer see it. */
export function Shown<T>({ resource, what, rows, children }: ShownProps<T>) {
  const why = resource.failure.value;
  const known = knownOf(resource);
  if (known === undefined) return why === undefined ? <Loading rows={rows} /> : <Failed failure={why} what={what} />;
  return (
    <>
      <Outdated failure={why} />
      {children(known)}
    </>
  );
}

/** Replaces a page whose code could not be loaded: the service was away, or is a newer version. */
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
