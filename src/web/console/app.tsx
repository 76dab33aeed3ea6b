import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { closeDialogs, dialog, isHelpOpen, isPaletteOpen, notice } from './data/dialogs.ts';
import { access, identify, logOut, stranger, loginPath } from './data/identity.ts';
import { noteAddress, showPlace } from './data/places.ts';
import { readViews } from './data/saved-views.ts';
import { EndDialog } from './frame/end-dialog.tsx';
import { Palette } from './frame/palette.tsx';
import { Rail } from './frame/rail.tsx';
import { CopyDialog, HelpDialog, LoginDialog } from './frame/small-dialogs.tsx';
import { toggleZone, TopBar } from './frame/top-bar.tsx';
import { ViewPage } from './frame/view-page.tsx';
import { DETAILS, PLACES, preloadPages, shownPlaces } from './pages/all.ts';
import { LoginPage } from './pages/login.tsx';
import { Fact } from './components/card.tsx';
import { AwayBanner, togglePause } from './components/freshness.tsx';
import { Page, useTitle } from './components/page.tsx';
import { useKeys } from './components/shortcuts.ts';
import { useScope } from './components/scope.tsx';
import { Loading } from './components/view-states.tsx';
import { SECOND_MS } from './data/durations.ts';

export function App() {
  return (
    <LocationProvider scope={/^\/console(?:[/?]|$)/}>
      <Gate />
    </LocationProvider>
  );
}

/** Shows the login to people without one, a refusal to people without a role, and the console to everybody else. */
function Gate() {
  const { path, url, route } = useLocation();
  const isLogin = path === '/console/login';
  useEffect(() => {
    if (!isLogin) void identify();
  }, [isLogin]);
  useEffect(() => {
    if (!isLogin && access.value === 'nobody') route(loginPath(url), true);
  }, [isLogin, access.value]);

  if (isLogin) return <LoginPage />;
  if (access.value === 'granted') return <Console />;
  if (access.value === 'forbidden') return <ForbiddenPage />;
  if (access.value === 'away') return <Away />;
  return <Loading />;
}

const PRELOAD_AFTER_MS = 3 * SECOND_MS;

function Console() {
  const { path, url, query, route } = useLocation();
  const { to } = useScope();
  // Must come before anything below is drawn, while the page being left is still there.
  noteAddress(url);
  const view = query['view'];
  useEffect(() => {
    if (view === undefined) void readViews();
  }, []);
  // Runs together with the new page, so that it closes nothing that the new page opens.
  useLayoutEffect(closeDialogs, [path]);
  useEffect(() => {
    // The open page is loaded first.
    const timer = setTimeout(preloadPages, PRELOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  useKeys(
    {
      '/': () => (isPaletteOpen.value = true),
      '?': () => (isHelpOpen.value = true),
      p: togglePause,
      t: toggleZone,
      f: goToFilter,
      j: () => goToRow(1),
      k: () => goToRow(-1),
      ...Object.fromEntries(shownPlaces().map(({ key, path }) => [`g ${key}`, () => route(to(path))])),
    },
    'console',
  );
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      isPaletteOpen.value = document.querySelector('dialog[open]') === null;
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);

  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <div class="frame">
        <TopBar />
        <Rail />
        <main id="main" tabIndex={-1}>
          <AwayBanner />
          {view === undefined ? (
            <Router onRouteChange={showPlace}>
              {[...PLACES, ...DETAILS].map(({ path, component }) => (
                <Route key={path} path={path} component={component} />
              ))}
              <Route default component={NotFoundPage} />
            </Router>
          ) : (
            <ViewPage key={view} id={view} />
          )}
        </main>
      </div>
      {/* Outside of everything that is redrawn with new data. */}
      <Palette />
      <HelpDialog />
      <EndDialog />
      {dialog}
      <CopyDialog />
      <LoginDialog />
      <p class={notice.value === '' ? 'notice unseen' : 'notice'} role="status">
        {notice}
      </p>
    </>
  );
}

function Away() {
  return (
    <main class="alone">
      <div class="empty">
        <h1>The service does not answer</h1>
        <p>
          <button type="button" onClick={() => void identify()}>
            Try again
          </button>
        </p>
      </div>
    </main>
  );
}

/** Moves to the next or previous row across all tables of the page. Rows are marked with `data-row`, and are or contain a link. */
function goToRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#main [data-row]')];
  const links = rows.flatMap((row) => (row.matches('a') ? row : (row.querySelector<HTMLElement>('a') ?? [])));
  const here = links.findIndex((link) => link === document.activeElement);
  links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

/** Moves to the first field of the page's filter. */
function goToFilter(): void {
  document.querySelector<HTMLElement>('#main [data-filter="first"]')?.focus();
}

/** For somebody who is logged in but has no role here: says who they are, and what would give them one. */
function ForbiddenPage() {
  useTitle('No access');
  return (
    <main class="alone">
      <div class="card login">
        <h1>You may not see the console</h1>
        <dl class="facts">
          <Fact name="Your address">{stranger.value ?? 'unknown'}</Fact>
          <Fact name="Your role">none</Fact>
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

function NotFoundPage() {
  return (
    <Page title="No such page">
      <h1>The console has no such page</h1>
      <p>
        See the <a href="/console">overview</a> or the <a href="/console/sessions">sessions</a>.
      </p>
    </Page>
  );
}
