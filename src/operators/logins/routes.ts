import { z } from 'zod';
import { classify } from '../../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import {
  loginFilters,
  loginPage,
  type OperatorLogin,
  operatorLoginDetail,
  liftAddressReply,
  liftAddressRequest,
} from '../../protocol/operator/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Route } from '../../http/route.ts';
import { actBy, exampleEvent, operatorRoute } from '../operator-route.ts';
import { sample } from '../../http/samples.ts';
import type { Services } from '../../http/services.ts';
import { string, onlyReason } from '../../protocol/fields.ts';
import { revokeLoginReply, loginName } from '../../protocol/login.ts';
import type { Logins } from '../../stores/logins/contract.ts';
import { act } from '../journal/acts.ts';
import { iso } from '../../kernel/time.ts';
import { actorSeenBy, type Operator } from '../roles.ts';
import { pageEnd, readCursor } from '../pagination.ts';
import { eventsOfActor } from '../journal/view.ts';

const exampleLogin: OperatorLogin = {
  id: 'auth_q8Hc2mVt5bXr9LwKz1NfYd',
  email: 'ada@example.com',
  createdAt: '2030-01-01T08:00:00.000Z',
  renewedAt: '2030-01-01T12:00:00.000Z',
  expiresAt: '2030-01-02T12:00:00.000Z',
  state: 'active',
  reason: null,
  endedAt: null,
};

const loginParams = z.object({ id: string('The id of the login', exampleLogin.id) });

export function loginsRoute({ core }: Services): Route {
  const { logins: loginStore } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/logins',
    operationId: 'listLogins',
    summary: 'List console logins, newest first',
    description: 'Filter by state, or by id to get one. To find an e-mail address use POST /api/operator/search.',
    right: 'see-installation',
    query: loginFilters,
    reply: {
      description: 'A page of logins',
      schema: loginPage,
      example: { logins: [exampleLogin], nextCursor: null, asOf: '2030-01-01T12:00:00.000Z', searchedTo: null },
    },
    handle: async (call, { state, q, cursor, limit }) => {
      const after = readCursor(cursor, [0, ''] as const);
      if (after instanceof Refusal) return after;
      const { atMs } = call.request;
      const position = after && { atMs: after[0], id: after[1] };
      const page =
        q === undefined
          ? await loginStore.list(state, atMs, position, limit)
          : { logins: await named(q, state, atMs, loginStore), next: undefined, isPartial: false };
      return {
        logins: page.logins.map((login) => toOperatorLogin(login, atMs, call.operator)),
        ...pageEnd(page, atMs, (end) => [end.atMs, end.id]),
      };
    },
  });
}

async function named(
  id: string,
  state: OperatorLogin['state'] | undefined,
  atMs: number,
  store: Services['core']['stores']['logins'],
): Promise<AuthRecord[]> {
  const login = await store.load(id);
  return login === undefined || (state !== undefined && classify(login, atMs) !== state) ? [] : [login];
}

export function loginRoute({ core }: Services): Route {
  const { logins: loginStore, journal } = core.stores;
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/logins/{id}',
    operationId: 'getOperatorLogin',
    summary: 'Get one console login, and what its machine did',
    params: loginParams,
    right: 'see-installation',
    reply: {
      description: 'The login',
      schema: operatorLoginDetail,
      example: {
        ...exampleLogin,
        machine: 'auth-session',
        events: [{ ...exampleEvent, kind: 'started', event: 'OPEN', from: null, to: 'active', steps: [], guards: [] }],
        moreEvents: false,
      },
    },
    refusals: ['NOT_FOUND'],
    find: ({ params: [id = ''] }) => findLogin(id, loginStore),
    handle: async (call, _query, login) => {
      const told = await eventsOfActor('auth-session', login.id, call.operator, journal);
      return { ...toOperatorLogin(login, call.request.atMs, call.operator), ...told };
    },
  });
}

export function revokeLoginRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/logins/{id}/revoke',
    operationId: 'revokeLogin',
    summary: 'End a console login',
    description: 'Takes effect on every node within a second. Repeating it changes nothing.',
    params: loginParams,
    right: 'change-installation',
    body: onlyReason.optional(),
    bodyExample: { reason: 'the laptop was stolen' },
    reply: { description: 'The login has ended', schema: revokeLoginReply, example: { ok: true, alreadyEnded: false } },
    refusals: ['NOT_FOUND'],
    find: ({ params: [id = ''] }) => findLogin(id, services.core.stores.logins),
    handle: async (call, _query, login) => {
      const by = actBy(call);
      const alreadyEnded = classify(login, by.atMs) === 'destroyed';
      await act(
        { action: 'login.revoke', target: login.id, tenantId: null },
        by,
        services,
        () => services.identity.logins.destroy(login.id, 'revoked', by.atMs, by.requestId),
        () => (alreadyEnded ? 'unchanged' : 'done'),
      );
      return { ok: true, alreadyEnded };
    },
  });
}

export function liftAddressRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/addresses/lift',
    operationId: 'liftAddress',
    summary: 'Let an e-mail address log in again from new browsers',
    description:
      'Resets its count of wrong codes in a row, and for a day exempts it from the limits that its domain and the installation have used up. The audit records it under the hash of the address.',
    right: 'change-installation',
    body: liftAddressRequest,
    bodyExample: { email: sample.email, reason: 'she called, and has a new laptop' },
    reply: {
      description: 'The address may log in from new browsers',
      schema: liftAddressReply,
      example: { ok: true, failures: 100, mayLogIn: true },
    },
    handle: async (call) => {
      const { email } = call.body;
      const { subjects, codes, admits } = services.identity;
      const by = actBy(call);
      const lift = { action: 'address.lift', target: subjects.console(email), tenantId: null } as const;
      const failures = await act(lift, by, services, () => codes.lift(email, by.atMs));
      return { ok: true, failures, mayLogIn: admits(email) };
    },
  });
}

async function findLogin(id: string, store: Pick<Logins, 'load'>): Promise<AuthRecord | Refusal> {
  const login = loginName.test(id) ? await store.load(id) : undefined;
  return login ?? new Refusal('NOT_FOUND', 'There is no login of this id; it may be so old that it was deleted.');
}

function toOperatorLogin(login: AuthRecord, atMs: number, operator: Operator): OperatorLogin {
  const { id, email, createdAtMs, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason } = login;
  const state = classify(login, atMs);
  const isOver = state === 'destroyed';
  return {
    id,
    email: actorSeenBy(operator, email),
    createdAt: iso(createdAtMs),
    renewedAt: iso(renewedAtMs),
    expiresAt: iso(expiresAtMs),
    state,
    // A login that was not used again expires without being marked as destroyed.
    reason: destroyReason ?? (isOver ? 'expired' : null),
    endedAt: isOver ? iso(destroyedAtMs ?? expiresAtMs) : null,
  };
}
