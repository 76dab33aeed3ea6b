import { isoOrNull } from '../../../kernel/time.ts';
import { pauseKeyReply, pauseKeyRequest } from '../../../protocol/operator/key.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { pauseKey, resumeKey } from '../../../tenants/keys.ts';
import { defineRoute, type Route } from '../../route.ts';
import { by, findKey, keyParams, noKey, type KeysDeps } from './keys.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

interface Doing {
  readonly name: 'pause' | 'resume';
  readonly change: typeof pauseKey;
  readonly summary: string;
  readonly description: string;
  readonly done: string;
  readonly pausedAt: string | null;
}

/** Keeps a widget key from opening sessions until it is resumed. */
export function pauseKeyRoute(deps: KeysDeps): Route {
  return routeOf(deps, {
    name: 'pause',
    change: pauseKey,
    summary: 'Open no new sessions of a widget key for the time being',
    description:
      'Creates are refused with KEY_PAUSED on every node until it is resumed; its open sessions go on to their limits. Again changes nothing, and so it does of a key that is revoked.',
    done: 'It is paused',
    pausedAt: '2030-01-01T12:00:00.000Z',
  });
}

/** Undoes a pause. */
export function resumeKeyRoute(deps: KeysDeps): Route {
  return routeOf(deps, {
    name: 'resume',
    change: resumeKey,
    summary: 'Open sessions of a paused widget key again',
    description: 'Again changes nothing. What is revoked stays revoked.',
    done: 'It is not paused',
    pausedAt: null,
  });
}

function routeOf(deps: KeysDeps, { name, change, summary, description, done, pausedAt }: Doing): Route {
  return defineRoute({
    method: 'POST',
    path: `/api/operator/keys/{id}/${name}`,
    operationId: `${name}Key`,
    summary,
    description,
    params: keyParams,
    tag: TAG,
    access: 'operator',
    right: 'change',
    body: pauseKeyRequest,
    bodyExample: { tenantId: 'acme', reason: 'the website is being rebuilt' },
    replies: {
      200: { description: done, schema: pauseKeyReply, example: { ok: true, pausedAt, revokedAt: null } },
    },
    refusals: ['INVALID_REQUEST', 'ORIGIN_MISMATCH', 'NOT_FOUND', ...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => {
        const { tenantId } = call.body;
        const [id = ''] = call.params;
        if ((await findKey(call.operator, tenantId, id, deps)) === undefined) return noKey(tenantId, id);
        const key = await change(tenantId, id, by(call), deps.keys);
        if (key instanceof Refusal) return key;
        deps.events.operatorActed(call.operator.role, `key.${name}`, `${tenantId}/${id}`, call.request.requestId);
        return {
          status: 200,
          body: { ok: true, pausedAt: isoOrNull(key.pausedAtMs), revokedAt: isoOrNull(key.revokedAtMs) },
        };
      }),
  });
}
