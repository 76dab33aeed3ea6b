import { z } from 'zod';
import { classify } from '../../../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../../../machines/auth-session/types.ts';
import type { ConsoleLogins } from '../../../auth/console-logins.ts';
import { actorSeenBy, type Operator } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import {
  loginFilters,
  loginPage,
  operatorLoginDetail,
  revokeLoginReply,
  revokeLoginRequest,
  type OperatorLogin,
} from '../../../protocol/operator/login.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { audited, type ActLog, type Journal } from '../../../stores/journal/contract.ts';
import type { Logins } from '../../../stores/logins/contract.ts';
import type { Events } from '../../../telemetry/events.ts';
import { defineRoute, type Route } from '../../route.ts';
import { entryOf } from './audit-entry.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { exampleEvent, toldOf } from './events.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface LoginsDeps {
  readonly loginStore: Pick<Logins, 'load' | 'list'>;
  readonly logins: Pick<ConsoleLogins, 'destroy'>;
  readonly journal: Pick<Journal, 'list'>;
  readonly acts: ActLog;
  readonly events: Pick<Events, 'operatorActed'>;
}

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

const loginParams = z.object({
  id: z.string().meta({ description: 'The id of the login', examples: [exampleLogin.id] }),
});

/** Console logins, the newest first. */
export function loginsRoute({ loginStore }: LoginsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/logins',
    operationId: 'listLogins',
    summary: 'Console logins, newest first',
    description: 'By state, or one by its id. Addresses are looked for by POST /api/operator/search.',
    tag: TAG,
    access: 'operator',
    right: 'see-installation',
    query: loginFilters,
    replies: {
      200: {
        description: 'A page of logins',
        schema: loginPage,
        example: { logins: [exampleLogin], nextCursor: null, asOf: '2030-01-01T12:00:00.000Z', searchedTo: null },
      },
    },
    refusals: ['INVALID_REQUEST', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, loginFilters, async ({ state, q, cursor, limit }) => {
        const after = readCursor(cursor, [0, ''] as const);
        if (after instanceof Refusal) return after;
        const { atMs } = call.request;
        const position = after && { atMs: after[0], id: after[1] };
        const { logins, next, isPartial } =
          q === undefined
            ? await loginStore.list(state, atMs, position, limit)
            : { logins: await named(q, state, atMs, loginStore), next: undefined, isPartial: false };
        const body = {
          logins: logins.map((login) => describe(login, atMs, call.operator)),
          nextCursor: next === undefined ? null : writeCursor([next.atMs, next.id]),
          asOf: iso(atMs),
          searchedTo: isPartial && next !== undefined ? iso(next.atMs) : null,
        };
        return { status: 200, body };
      }),
  });
}

async function named(
  id: string,
  state: OperatorLogin['state'] | undefined,
  atMs: number,
  store: LoginsDeps['loginStore'],
): Promise<AuthRecord[]> {
  const login = await store.load(id);
  return login === undefined || (state !== undefined && classify(login, atMs) !== state) ? [] : [login];
}

/** One login, and what its machine did. */
export function loginRoute({ loginStore, journal }: LoginsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/logins/{id}',
    operationId: 'getOperatorLogin',
    summary: 'One console login, and what its machine did',
    params: loginParams,
    tag: TAG,
    access: 'operator',
    right: 'see-installation',
    replies: {
      200: {
        description: 'The login',
        schema: operatorLoginDetail,
        example: {
          ...exampleLogin,
          machine: 'auth-session',
          events: [
            { ...exampleEvent, kind: 'started', event: 'OPEN', from: null, to: 'active', steps: [], guards: [] },
          ],
          moreEvents: false,
        },
      },
    },
    refusals: ['NOT_FOUND', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const [id = ''] = call.params;
        const login = await find(id, loginStore);
        if (login instanceof Refusal) return login;
        const told = await toldOf('auth-session', id, call.operator, journal);
        return { status: 200, body: { ...describe(login, call.request.atMs, call.operator), ...told } };
      }),
  });
}

/** Ends a login on every node. */
export function revokeLoginRoute(deps: LoginsDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/api/operator/logins/{id}/revoke',
    operationId: 'revokeLogin',
    summary: 'End a console login',
    description: 'On every node within a second. Again changes nothing.',
    params: loginParams,
    tag: TAG,
    access: 'operator',
    right: 'change-installation',
    body: revokeLoginRequest.optional(),
    bodyExample: { reason: 'the laptop was stolen' },
    replies: {
      200: { description: 'It is over', schema: revokeLoginReply, example: { ok: true, alreadyEnded: false } },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'NOT_FOUND', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const [id = ''] = call.params;
        const { atMs, requestId } = call.request;
        const login = await find(id, deps.loginStore);
        if (login instanceof Refusal) return login;
        const alreadyEnded = classify(login, atMs) === 'destroyed';
        deps.events.operatorActed(call.operator.role, 'login.revoke', id, requestId);
        await audited(
          deps.acts,
          entryOf(call, 'login.revoke', { target: id, tenantId: null, reason: call.body?.reason }),
          () => deps.logins.destroy(id, 'revoked', atMs, requestId),
          () => (alreadyEnded ? 'unchanged' : 'done'),
        );
        return { status: 200, body: { ok: true, alreadyEnded } };
      }),
  });
}

async function find(id: string, store: LoginsDeps['loginStore']): Promise<AuthRecord | Refusal> {
  const login = /^auth_[\w-]{1,64}$/.test(id) ? await store.load(id) : undefined;
  return login ?? new Refusal('NOT_FOUND', 'There is no login of this id; it may be so old that it was deleted.');
}

function describe(login: AuthRecord, atMs: number, operator: Operator): OperatorLogin {
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
    // What nobody used again is over by its time alone.
    reason: destroyReason ?? (isOver ? 'expired' : null),
    endedAt: isOver ? iso(destroyedAtMs ?? expiresAtMs) : null,
  };
}
