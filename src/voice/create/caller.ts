import type { Subjects } from '../../auth/subjects.ts';
import { withOverrides, sharedCeilings } from '../../quota/ceilings.ts';
import type { AdmittedCaller, CreateDeps, CreateStep, TenantFound } from './context.ts';

/** Names the subject that the session is counted for, and the limits that hold for it. */
export const nameCaller: CreateStep = {
  name: 'caller',
  take(context: TenantFound, deps: Pick<CreateDeps, 'limits' | 'subjects'>) {
    context.caller = callerOf(context, deps);
    return undefined;
  },
};

function callerOf(
  { input: { body, login }, tenant, key }: TenantFound,
  { limits, subjects }: Pick<CreateDeps, 'limits' | 'subjects'>,
): AdmittedCaller {
  const tenantId = tenant.id;
  if (key === null) {
    const [subject, loginId] = [subjects.console(login?.email ?? ''), login?.id ?? null];
    return {
      caller: 'console',
      subject,
      tenantId,
      keyId: null,
      named: true,
      loginId,
      limits: limits.console,
      shared: [],
    };
  }
  return {
    caller: 'widget',
    subject: widgetSubject(tenantId, key.id, body.email, subjects),
    tenantId,
    keyId: key.id,
    named: body.email !== undefined,
    loginId: null,
    limits: withOverrides(limits.widget, key.limits),
    overrides: key.limits,
    shared: sharedCeilings(tenantId, key.id, key, tenant),
  };
}

/** All visitors that a widget does not name are one subject. */
function widgetSubject(tenantId: string, keyId: string, email: string | undefined, subjects: Subjects): string {
  return email === undefined ? subjects.widgetKey(tenantId, keyId) : subjects.widgetUser(tenantId, email);
}
