import type { CreateRequest } from '../../protocol/create.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import type { CreateContext, CreateDeps, CreateStep } from './context.ts';

/** A process that was frozen looks at the database before it admits anybody: a key may have been revoked meanwhile. */
export const refreshDirectory: CreateStep = {
  name: 'directory',
  take: (_, { tenants }) => tenants.refreshIfLate(),
};

export const requireLogin: CreateStep = {
  name: 'login',
  take({ input }, deps) {
    if (!deps.config.requireAuthForSession || input.login !== undefined) return undefined;
    return new Refusal(
      'AUTH_REQUIRED',
      'This installation opens sessions for logged-in callers only (REQUIRE_AUTH_FOR_SESSION).',
      {},
      { lever: 'REQUIRE_AUTH_FOR_SESSION' },
    );
  },
};

/** Finds the tenant: that of the widget key that was sent, else one that admits the console caller. */
export const findTenant: CreateStep = {
  name: 'key',
  take(context, deps) {
    const { body, login } = context.input;
    if (body.widgetKey !== undefined) return findWidgetKey(context, body.widgetKey, deps);
    if (login !== undefined) return findConsoleTenant(context, body, login.email, deps);
    const error = 'Send a widgetKey, or log in to the console.';
    return new Refusal('INVALID_WIDGET_KEY', error, {}, { fact: 'none was sent' });
  },
};

function findWidgetKey(
  context: CreateContext,
  text: string,
  { tenants }: Pick<CreateDeps, 'tenants'>,
): Refusal | undefined {
  const found = tenants.keyOf(text);
  if (found === undefined) return invalidWidgetKey({ fact: 'nobody has this key' });
  const { key, tenant } = found;
  context.key = key;
  context.tenant = tenant;
  if (key.revokedAtMs !== null) return invalidWidgetKey({ fact: 'the key is revoked' });
  const { tenantId = tenant.id } = context.input.body;
  return tenantId === tenant.id ? undefined : invalidWidgetKey({ fact: "another tenant's was named" });
}

function findConsoleTenant(
  context: CreateContext,
  { tenantId }: CreateRequest,
  email: string,
  deps: Pick<CreateDeps, 'tenants'>,
): Refusal | undefined {
  const tenants = deps.tenants.tenantsAdmitting(email);
  const tenant = tenantId === undefined ? tenants[0] : tenants.find(({ id }) => id === tenantId);
  if (tenant === undefined)
    return new Refusal('FORBIDDEN', 'No such tenant admits you; ask its administrator.', {}, { lever: 'admins' });
  if (tenantId === undefined && tenants.length > 1)
    return wrongField('tenantId', 'is needed, because more than one tenant admits you');
  context.key = null;
  context.tenant = tenant;
  return undefined;
}
