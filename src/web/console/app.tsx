import { useEffect, useLayoutEffect } from 'preact/hooks';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { closeDialogs, dialog, isHelpOpen, isPaletteOpen, notice } from './data/dialogs.ts';
import { access, identify } from './data/identity.ts';
import { loginPath } from './data/next-path.ts';
import { DETAILS, PLACES, preloadPages, shownPlaces } from './pages/all.ts';
import { ForbiddenPage } from './pages/forbidden.tsx';
import { LoginPage } from './pages/login.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { CopyDialog } from './frame/copy-dialog.tsx';
import { EndDialog } from './frame/end-dialog.tsx';
import { AwayBanner, togglePause } from './parts/freshness.tsx';
import { HelpDialog } from './frame/help-dialog.tsx';
import { useKeys } from './parts/keys.ts';
import { LoginDialog } from './frame/login-dialog.tsx';
import { Palette } from './frame/palette.tsx';
import { Rail } from './frame/rail.tsx';
import { goToFilter, goToRow } from './frame/row-keys.ts';
import { useScope } from './parts/scope.tsx';
import { toggleZone, TopBar } from './frame/top-bar.tsx';
import { Loading } from './parts/view-states.tsx';

export function App() {
  return (
    <LocationProvider scope={/^\/console(?:[/?]|$)/}>
      <Gate />
    </LocationProvider>
  );
}

/** Who is not logged in meets the login, who has no role is told so; everybody else meets the console. */
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

const PRELOAD_AFTER_MS = 3000;

function Console() {
  const { path, route } = useLocation();
  const { to } = useScope();
  // With the new page, so that it closes nothing that is opened on that.
  useLayoutEffect(closeDialogs, [path]);
  useEffect(() => {
    // The page that is open comes first.
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
          <Router onRouteChange={() => document.getElementById('main')?.focus({ preventScroll: true })}>
            {[...PLACES, ...DETAILS].map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route default component={NotFoundPage} />
          </Router>
        </main>
      </div>
      {/* Outside of everything that is drawn again and again. */}
      <Palette />
      <HelpDialog />
      <EndDialog />
      {dialog}
      <CopyDialog />
      <LoginDialog />
      <p class={notice.value === '' ? 'notice hidden' : 'notice'} role="status">
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
