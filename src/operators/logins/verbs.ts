import { classify } from '../../../machines/auth-session/selectors.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import { loginName } from '../../protocol/login.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Logins } from '../../stores/logins/contract.ts';
import { act, type ActBy } from '../act.ts';
import type { OperatorServices } from '../services.ts';

/**
 * Ends a login on every node within a second. Idempotent.
 * @throws Unavailable when the database is away
 */
export async function revokeLogin(
  id: string,
  by: ActBy,
  services: OperatorServices,
): Promise<{ readonly alreadyEnded: boolean } | Refusal> {
  const login = await findLogin(id, services.core.stores.logins);
  if (login instanceof Refusal) return login;
  const alreadyEnded = classify(login, by.atMs) === 'destroyed';
  await act(
    { action: 'login.revoke', target: id, tenantId: null },
    by,
    services,
    () => services.identity.logins.destroy(id, 'revoked', by.atMs, by.requestId),
    () => (alreadyEnded ? 'unchanged' : 'done'),
  );
  return { alreadyEnded };
}

export async function findLogin(id: string, store: Pick<Logins, 'load'>): Promise<AuthRecord | Refusal> {
  const login = loginName.test(id) ? await store.load(id) : undefined;
  return login ?? new Refusal('NOT_FOUND', 'There is no login of this id; it may be so old that it was deleted.');
}

/**
 * Lets new browsers log in with an address again, for a day. The journal only gets its hash.
 * @returns how many consecutive wrong codes are forgotten
 * @throws Unavailable when the database is away
 */
export function liftAddress(email: string, by: ActBy, services: OperatorServices): Promise<number> {
  const target = services.identity.subjects.console(email);
  return act({ action: 'address.lift', target, tenantId: null }, by, services, () =>
    services.identity.codes.lift(email, by.atMs),
  );
}
