import type { AuthSessions } from '../auth/auth-sessions.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../auth/cookie.ts';
import type { CookieKeeper } from './pipeline.ts';

/** The console cookie of the pipeline, over the logins. @param isSecure whether the public URL is https */
export function createConsoleCookie(logins: AuthSessions, isSecure: () => boolean): CookieKeeper {
  return {
    read: readSessionCookie,
    authenticate: (token, atMs) => logins.authenticate(token, atMs),
    write: (change, atMs) =>
      change.kind === 'clear'
        ? clearedSessionCookie(isSecure())
        : sessionCookie({ token: change.token, expiresAtMs: change.expiresAtMs, atMs, isSecure: isSecure() }),
  };
}
