import type { ConsoleLogins } from '../../auth/console-logins.ts';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../../auth/cookie.ts';
import type { Login } from '../../auth/known-logins.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { matchesEmailList } from '../../protocol/email.ts';
import type { RequestContext, Step } from '../request-context.ts';
import type { CookieChange } from '../route.ts';

interface FoundLogin {
  readonly login: Login;
  readonly renewedToken?: string | undefined;
}

/** Checks and makes the console cookie. */
export interface ConsoleCookie {
  /** The cookie's token, when the header holds one. */
  read(cookieHeader: string | undefined): string | undefined;
  /** @throws Unavailable when the login cannot be checked. */
  authenticate(token: string, atMs: number): Eventually<FoundLogin | undefined>;
  /** The Set-Cookie header of a change. */
  write(change: CookieChange, atMs: number): string;
}

/** The console cookie over the logins. @param isSecure whether the public URL is https */
export function createConsoleCookie(
  logins: Pick<ConsoleLogins, 'authenticate'>,
  isSecure: () => boolean,
): ConsoleCookie {
  return {
    read: readSessionCookie,
    authenticate: (token, atMs) => logins.authenticate(token, atMs),
    write: (change, atMs) =>
      change.kind === 'clear'
        ? clearedSessionCookie(isSecure())
        : sessionCookie({ token: change.token, expiresAtMs: change.expiresAtMs, atMs, isSecure: isSecure() }),
  };
}

export interface LoginDeps {
  readonly cookies: ConsoleCookie;
  readonly isServiceToken: (authorization: string | undefined) => boolean;
}

/**
 * Finds out who calls, by the credentials that a request brings: the login of the console cookie, which it renews, and whether a service
 * token came along.
 */
export function createLogin({ cookies, isServiceToken }: LoginDeps): Step {
  function note(x: RequestContext, found: FoundLogin | undefined): undefined {
    if (found === undefined) return;
    const { login, renewedToken } = found;
    x.login = login;
    if (renewedToken !== undefined) x.cookie = { kind: 'set', token: renewedToken, expiresAtMs: login.expiresAtMs };
  }

  return (x) => {
    const { atMs, headers } = x.request;
    x.isService = isServiceToken(headers['authorization']);
    const token = cookies.read(headers['cookie']);
    if (token === undefined) return undefined;
    const authenticate = () => andThen(cookies.authenticate(token, atMs), (found) => note(x, found));
    // What the caller proves otherwise does not wait for whoever could check the cookie.
    return x.access === 'proof' ? orNothing(authenticate) : authenticate();
  };
}

/** Runs the work; a throw or a rejection counts for nothing. */
function orNothing(work: () => Eventually<undefined>): Eventually<undefined> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(() => undefined) : value;
  } catch {
    return undefined;
  }
}

export interface OperatorDeps {
  /** OPERATOR_EMAILS. */
  readonly operatorEmails: readonly string[];
}

/**
 * Lets nobody to a route for operators but operators: an operator's cookie or a service token (docs/contract.md, section 8). The
 * handler learns which.
 */
export function createOperatorCheck({ operatorEmails }: OperatorDeps): Step {
  return (x) => {
    if (x.isService) x.operator = 'service';
    else if (x.login === undefined)
      return new Refusal('AUTH_REQUIRED', 'Log in as an operator, or send a service token.');
    else if (matchesEmailList(x.login.email, operatorEmails)) x.operator = x.login.email;
    else return new Refusal('FORBIDDEN', 'This login is not an operator (OPERATOR_EMAILS).');
    return undefined;
  };
}
