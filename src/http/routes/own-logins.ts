import { z } from 'zod';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import { classify } from '../../../machines/auth-session/selectors.ts';
import { iso } from '../../kernel/time.ts';
import { loginName, ownLogins, revokeLoginReply, type OwnLogin } from '../../protocol/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { string } from '../../protocol/fields.ts';

type OwnServices = Pick<Services, 'core' | 'identity'>;

const TAG = 'Console login';
/** More logins than anybody has. */
const MAX_LOGINS = 100;

const example: OwnLogin = {
  id: 'auth_q8Hc2mVt5bXr9LwKz1NfYd',
  createdAt: '2030-01-01T08:00:00.000Z',
  renewedAt: '2030-01-01T12:00:00.000Z',
  expiresAt: '2030-01-02T12:00:00.000Z',
  isCurrent: true,
};

const params = z.object({ id: string('The id of the login', example.id) });

/** Routes by which console users list and end their own logins (docs/contract.md, section 6.8). */
export function ownLoginRoutes(services: OwnServices): Route[] {
  return [listRoute(services), revokeRoute(services)];
}

function listRoute({ core }: OwnServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/auth/logins',
    operationId: 'listOwnLogins',
    summary: 'List your own logins',
    description: 'The active logins of the caller’s address, newest first, at most 100. Knowing an id proves nothing.',
    tag: TAG,
    access: 'console',
    replies: {
      200: { description: 'The logins', schema: ownLogins, example: { ok: true, logins: [example] } },
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

function revokeRoute({ core, identity }: OwnServices): Route {
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
