import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { DeviceCookies } from '../../auth/cookies.ts';
import type { Visitor } from '../../auth/address-lock.ts';
import { iso } from '../../kernel/time.ts';
import {
  loginReply,
  noLoginReply,
  sendCodeReply,
  sendCodeRequest,
  verifyCodeReply,
  verifyCodeRequest,
  type AuthSession,
} from '../../protocol/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { done } from '../../protocol/fields.ts';
import { addressScope } from '../steps/rate-limit.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';

const TAG = 'Console login';
const SENT_MESSAGE = 'If this address may log in, a code is on its way. It works once.';

const exampleLogin: AuthSession = {
  email: sample.email,
  sessionId: 'auth_q8Hc2mVt5bXr9LwKz1NfYd',
  expiresAt: '2030-01-02T12:00:00.000Z',
};

/** The four endpoints of a console login (docs/contract.md, sections 6.1, 6.3, 6.5 and 6.6). */
export function loginRoutes(services: Pick<Services, 'core' | 'identity'>): Route[] {
  return [sendRoute(services), verifyRoute(services), sessionRoute(), logoutRoute(services)];
}

function sendRoute({ identity }: Pick<Services, 'identity'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/otp/send',
    operationId: 'sendLoginCode',
    summary: 'E-mail a one-time code',
    description: 'The reply is the same for every well-formed address, whether or not it may log in.',
    tag: TAG,
    access: 'proof',
    countsNetworks: true,
    body: sendCodeRequest,
    bodyExample: { email: sample.email },
    replies: {
      200: {
        description: 'If the address may log in, a code is on its way',
        schema: sendCodeReply,
        example: { ok: true, message: SENT_MESSAGE, expiresIn: 600 },
      },
    },
    refusals: ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    async handle(call): Promise<Result> {
      const { body, request } = call;
      const visitor = visitorOf(call, body.email, identity.devices);
      const sent = await identity.codes.send(body.email, visitor, request.atMs, request.requestId);
      if (sent instanceof Refusal) return sent;
      return { status: 200, body: { ok: true, message: SENT_MESSAGE, expiresIn: sent.expiresInSec } };
    },
  });
}

function verifyRoute({ core, identity }: Pick<Services, 'core' | 'identity'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/otp/verify',
    operationId: 'verifyLoginCode',
    summary: 'Exchange a code for a login',
    description:
      'A code works once and allows five attempts by default. Wrong, expired, used and never-sent codes all get the same 401. A successful login ends the one that the same browser had before.',
    tag: TAG,
    access: 'proof',
    countsNetworks: true,
    body: verifyCodeRequest,
    bodyExample: { email: sample.email, code: '042137' },
    replies: {
      200: {
        description: 'Logged in; sets the cookie tenant_session',
        schema: verifyCodeReply,
        example: { ok: true, session: exampleLogin },
      },
    },
    refusals: ['INVALID_OTP', 'ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    cookie: 'set',
    async handle(call): Promise<Result> {
      const { body, login } = call;
      const { atMs, requestId } = call.request;
      const visitor = visitorOf(call, body.email, identity.devices);
      const redeem = (record: AuthRecord) => identity.codes.verify(record, body.code, visitor, atMs, requestId);
      const opened = await identity.logins.open(body.email, atMs, redeem, requestId);
      if (opened instanceof Refusal) return opened;
      // The code is spent by now: the caller has proved the address and is logged in, even if the previous login cannot be ended.
      if (login !== undefined)
        await identity.logins
          .destroy(login.id, 'replaced', atMs, requestId)
          .catch((fault: unknown) => core.events.faulted(fault, requestId, 'end of a replaced login'));
      core.events.loggedIn(opened.login.id, requestId);
      const { id: sessionId, expiresAtMs } = opened.login;
      const session = { email: body.email, sessionId, expiresAt: iso(expiresAtMs) };
      return {
        status: 200,
        body: { ok: true, session },
        cookie: { kind: 'set', token: opened.token, expiresAtMs },
        headers: [['Set-Cookie', identity.devices.issue(body.email, atMs)]],
      };
    },
  });
}

function visitorOf({ ip, request }: Pick<Call, 'ip' | 'request'>, email: string, devices: DeviceCookies): Visitor {
  return { from: addressScope(ip), device: devices.read(request.headers['cookie'], email, request.atMs) };
}

function sessionRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/auth/session',
    operationId: 'getLogin',
    summary: 'Who is logged in',
    description: 'Activity renews a login, and so does this request. The 401 has no code.',
    tag: TAG,
    access: 'console',
    replies: {
      200: {
        description: 'The login',
        schema: loginReply,
        example: { ok: true, ...exampleLogin },
      },
      401: {
        description: 'No login',
        schema: noLoginReply,
        example: { ok: false, error: 'No active session' },
      },
    },
    refusals: ['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['cookie'],
    handle({ login }): Result {
      if (login === undefined) return { status: 401, body: { ok: false, error: 'No active session' } };
      const { email, id: sessionId, expiresAtMs } = login;
      return { status: 200, body: { ok: true, email, sessionId, expiresAt: iso(expiresAtMs) } };
    },
  });
}

function logoutRoute({ identity }: Pick<Services, 'identity'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/logout',
    operationId: 'logOut',
    summary: 'Log out',
    description: 'Works without a login too: the cookie is cleared in any case.',
    tag: TAG,
    access: 'console',
    replies: { 200: { description: 'Logged out', schema: done, example: { ok: true } } },
    refusals: ['ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['none', 'cookie'],
    cookie: 'set',
    async handle({ login, request }): Promise<Result> {
      if (login !== undefined) await identity.logins.destroy(login.id, 'logout', request.atMs, request.requestId);
      return { status: 200, body: { ok: true }, cookie: { kind: 'clear' } };
    },
  });
}
