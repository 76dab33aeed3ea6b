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
  loginName,
  ownLogins,
  revokeLoginReply,
  type OwnLogin,
} from '../../protocol/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { done, string } from '../../protocol/fields.ts';
import { addressScope } from '../steps/rate-limit.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sample } from '../samples.ts';
import type { Services } from '../services.ts';
import { z } from 'zod';
import { classify } from '../../../machines/auth-session/selectors.ts';

const TAG = 'Console login';
const SENT_MESSAGE = 'If this address may log in, a code is on its way. It works once.';

const exampleLogin: AuthSession = {
  email: sample.email,
  sessionId: 'auth_q8Hc2mVt5bXr9LwKz1NfYd',
  expiresAt: '2030-01-02T12:00:00.000Z',
};

type LoginServices = Pick<Services, 'core' | 'identity'>;

/** A console login, and the list of a user's own logins (docs/contract.md, sections 6.1, 6.3, 6.5, 6.6 and 6.8). */
export function loginRoutes(services: LoginServices): Route[] {
  return [
    sendRoute(services),
    verifyRoute(services),
    sessionRoute(),
    logoutRoute(services),
    listRoute(services),
    revokeRoute(services),
  ];
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

function verifyRoute({ core, identity }: LoginServices): Route {
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

/** More logins than anybody has. */
const MAX_LOGINS = 100;

const exampleOwn: OwnLogin = {
  id: 'auth_q8Hc2mVt5bXr9LwKz1NfYd',
  createdAt: '2030-01-01T08:00:00.000Z',
  renewedAt: '2030-01-01T12:00:00.000Z',
  expiresAt: '2030-01-02T12:00:00.000Z',
  isCurrent: true,
};

const params = z.object({ id: string('The id of the login', exampleOwn.id) });

function listRoute({ core }: LoginServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/auth/logins',
    operationId: 'listOwnLogins',
    summary: 'List your own logins',
    description: 'The active logins of the caller’s address, newest first, at most 100. Knowing an id proves nothing.',
    tag: TAG,
    access: 'console',
    replies: {
      200: { description: 'The logins', schema: ownLogins, example: { ok: true, logins: [exampleOwn] } },
    },
    refusals: ['AUTH_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['cookie'],
    async handle({ login, request: { atMs } }) {
      if (login === undefined) return noLogin();
      const found = await core.stores.logins.ofEmail(login.email, MAX_LOGINS, atMs);
      return { status: 200, body: { ok: true, logins: found.map((one) => toOwnLogin(one, login.id)) } };
    },
  });
}

function revokeRoute({ core, identity }: LoginServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/auth/logins/{id}/revoke',
    operationId: 'revokeOwnLogin',
    summary: 'End one of your own logins',
    description:
      'Takes effect on every node within a second. If it is the login that sent the request, the cookie is cleared as well. Repeating it changes nothing.',
    params,
    tag: TAG,
    access: 'console',
    replies: {
      200: {
        description: 'The login has ended',
        schema: revokeLoginReply,
        example: { ok: true, alreadyEnded: false },
      },
    },
    refusals: ['AUTH_REQUIRED', 'ORIGIN_MISMATCH', 'NOT_FOUND', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'],
    credentials: ['cookie'],
    cookie: 'set',
    async handle({ login, params: [id = ''], request: { atMs, requestId } }) {
      if (login === undefined) return noLogin();
      const found = loginName.test(id) ? await core.stores.logins.load(id) : undefined;
      // A login of somebody else is treated as if it did not exist.
      if (found?.email !== login.email) return new Refusal('NOT_FOUND', 'You have no login of this id.');
      const isCurrent = id === login.id;
      await identity.logins.destroy(id, isCurrent ? 'logout' : 'revoked', atMs, requestId);
      const body = { ok: true, alreadyEnded: classify(found, atMs) === 'destroyed' };
      return { status: 200, body, ...(isCurrent && { cookie: { kind: 'clear' } as const }) };
    },
  });
}

function noLogin(): Refusal {
  return new Refusal('AUTH_REQUIRED', 'Log in first.');
}

function toOwnLogin({ id, createdAtMs, renewedAtMs, expiresAtMs }: AuthRecord, currentId: string): OwnLogin {
  return {
    id,
    createdAt: iso(createdAtMs),
    renewedAt: iso(renewedAtMs),
    expiresAt: iso(expiresAtMs),
    isCurrent: id === currentId,
  };
}
