const HOME = '/console';
const LOGIN = '/console/login';

/** Where to go after the login: always a path of the console, whatever the address asks for. */
export function nextPath(wanted: string | null | undefined): string {
  if (!wanted || !URL.canParse(wanted, location.origin)) return HOME;
  const url = new URL(wanted, location.origin);
  const isOurs = url.origin === location.origin && (url.pathname === HOME || url.pathname.startsWith(`${HOME}/`));
  if (!isOurs || url.pathname === LOGIN) return HOME;
  return `${url.pathname}${url.search}`;
}

/** The address of the login page that leads back to `from`. */
export function loginPath(from: string): string {
  const next = nextPath(from);
  return next === HOME ? LOGIN : `${LOGIN}?next=${encodeURIComponent(next)}`;
}
