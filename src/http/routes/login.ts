import { z } from 'zod';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { AuthSessions } from '../../auth/auth-sessions.ts';
import type { LoginCodes } from '../../auth/login-codes.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Events } from '../../telemetry/events.ts';
import { addressScope } from '../client-address.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import { authSession, email, ok } from '../schemas.ts';

export interface LoginParts {
  readonly codes: LoginCodes;
  readonly logins: AuthSessions;
  readonly events: Events;
}

const tag = 'Console login';

/** The four endpoints of a console login (specification sections 4.3, 4.4, 4.5 and 4.7). */
export function loginRoutes(parts: LoginParts): Route[] {
  return [sendRoute(parts), verifyRoute(parts), sessionRoute(), logoutRoute(parts)];
}

function sendRoute({ codes }: LoginParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/otp/send',
    summary: 'E-mail a one-time code',
    description: 'The answer is the same for every well-formed address, known or not.',
    tag,
    body: z.object({ email }),
    replies: {
      200: {
        description: 'If the address may log in, a code is on its way',
        schema: z.object({ ok, message: z.string(), expiresIn: z.int().meta({ description: 'Seconds' }) }),
      },
    },
    refusals: ['INVALID_REQUEST', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    usesCookie: () => false,
    worksWithoutLogin: true,
    async handle({ body, request, ip }): Promise<Result> {
      const sent = await codes.send(body.email, addressScope(ip), request.atMs);
      if (sent instanceof Refusal) return sent;
      const message = 'If this address may log in, a code is on its way. It works once.';
      return { status: 200, body: { ok: true, message, expiresIn: sent.expiresInSec } };
    },
  });
}

function verifyRoute({ codes, logins, events }: LoginParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/otp/verify',
    summary: 'Exchange a code for a login',
    tag,
    body: z.object({
      email,
      code: z
        .string()
        .regex(/^[0-9]{6}$/, 'must be six digits')
        .meta({ description: 'The code of the newest mail' }),
    }),
    replies: {
      200: { description: 'Logged in; sets the cookie tenant_session', schema: z.object({ ok, session: authSession }) },
    },
    refusals: ['INVALID_REQUEST', 'INVALID_OTP', 'ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    worksWithoutLogin: true,
    async handle({ body, request, login, ip }): Promise<Result> {
      const { atMs } = request;
      const redeem = (record: AuthRecord) => codes.verify(record, body.code, addressScope(ip), atMs);
      const opened = await logins.open(body.email, atMs, redeem);
      if (opened instanceof Refusal) return opened;
      // The code is spent by now: whoever proved the address is logged in, whatever becomes of the login before.
      if (login !== undefined)
        await logins
          .destroy(login.id, 'replaced', atMs)
          .catch((fault: unknown) => events.faulted(fault, request.requestId, 'end of a replaced login'));
      events.loggedIn(opened.login.id, request.requestId);
      const { id: sessionId, expiresAtMs } = opened.login;
      const session = { email: body.email, sessionId, expiresAt: new Date(expiresAtMs).toISOString() };
      return { status: 200, body: { ok: true, session }, cookie: { kind: 'set', token: opened.token, expiresAtMs } };
    },
  });
}

function sessionRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/auth/session',
    summary: 'Who is logged in',
    tag,
    replies: {
      200: { description: 'The login', schema: authSession.extend({ ok }) },
      401: { description: 'No login', schema: z.object({ ok: z.literal(false), error: z.string() }) },
    },
    refusals: ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['cookie'],
    handle({ login }): Result {
      if (login === undefined) return { status: 401, body: { ok: false, error: 'No active session' } };
      const { email, id: sessionId, expiresAtMs } = login;
      return { status: 200, body: { ok: true, email, sessionId, expiresAt: new Date(expiresAtMs).toISOString() } };
    },
  });
}

function logoutRoute({ logins }: LoginParts): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/logout',
    summary: 'Log out',
    description: 'Also without a login: the cookie is cleared in any case.',
    tag,
    replies: { 200: { description: 'Logged out', schema: z.object({ ok }) } },
    refusals: ['ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['cookie'],
    setsCookie: true,
    async handle({ login, request }): Promise<Result> {
      if (login !== undefined) await logins.destroy(login.id, 'logout', request.atMs);
      return { status: 200, body: { ok: true }, cookie: { kind: 'clear' } };
    },
  });
}
