import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../../auth/cookies.ts';
import type { Login } from '../../auth/login-cache.ts';
import { mayDo, serviceOperator } from '../../operators/roles.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/async.ts';
import type { RequestContext, Step, CookieChange } from '../route.ts';
import type { Services } from '../services.ts';

interface FoundLogin {
  readonly login: Login;
  readonly renewedToken?: string | undefined;
}

/** The Set-Cookie header of a change of the console cookie. @param isSecure whether the public URL is https */
export function writeLoginCookie(change: CookieChange, atMs: number, isSecure: boolean): string {
  return change.kind === 'clear'
    ? clearedSessionCookie(isSecure)
    : sessionCookie({ token: change.token, expiresAtMs: change.expiresAtMs, atMs, isSecure });
}

/**
 * Identifies the caller by the credentials of the request: reads and renews the login of the console cookie, checks for a service
 * token, and, where that matters, finds the operator's role.
 */
export function createLogin({
  identity: { logins, serviceOf },
  operators: { operatorOf },
}: Pick<Services, 'identity' | 'operators'>): Step {
  function applyLogin(ctx: RequestContext, found: FoundLogin | undefined): undefined {
    if (found === undefined) return;
    const { login, renewedToken } = found;
    ctx.login = login;
    if (ctx.endpoint.access === 'operator' && !ctx.isService) ctx.operator = operatorOf(login.email);
    if (renewedToken !== undefined) ctx.cookie = { kind: 'set', token: renewedToken, expiresAtMs: login.expiresAtMs };
  }

  return (ctx) => {
    const { atMs, headers } = ctx.request;
    const service = serviceOf(headers['authorization']);
    if (service !== undefined) {
      ctx.isService = true;
      if (ctx.endpoint.access === 'operator') ctx.operator = serviceOperator(service);
    }
    const token = readSessionCookie(headers['cookie']);
    if (token === undefined) return undefined;
    const authenticate = () => andThen(logins.authenticate(token, atMs), (found) => applyLogin(ctx, found));
    // A caller with another proof must not fail because the cookie cannot be checked.
    return ctx.endpoint.access === 'proof' ? orNothing(authenticate) : authenticate();
  };
}

/** Runs the work and ignores a throw or a rejection. */
function orNothing(work: () => Eventually<undefined>): Eventually<undefined> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(() => undefined) : value;
  } catch {
    return undefined;
  }
}

/**
 * Refuses operators whose role lacks the right of the route (docs/contract.md, section 8). Which data a role sees is up to the handler.
 */
export function requireRole({ operator: { role }, login, endpoint }: RequestContext): Refusal | undefined {
  if (role === 'nobody')
    return login === undefined
      ? new Refusal('AUTH_REQUIRED', 'Log in as an operator, or send a service token.')
      : new Refusal(
          'FORBIDDEN',
          'This login is no operator (OPERATOR_EMAILS), no viewer (VIEWER_EMAILS) and the admin of no tenant (its admins).',
        );
  const right = endpoint.route?.right ?? 'see';
  if (mayDo(role, right)) return undefined;
  if (role === 'viewer')
    return new Refusal('FORBIDDEN', 'A viewer (VIEWER_EMAILS) changes nothing; an operator (OPERATOR_EMAILS) may.');
  return new Refusal(
    'FORBIDDEN',
    'This concerns all tenants: it is for operators (OPERATOR_EMAILS), and where nothing changes for viewers (VIEWER_EMAILS).',
  );
}
