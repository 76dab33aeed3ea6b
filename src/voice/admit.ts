import type { CallerLimits } from '../../config/config.ts';
import { isBlocked, type BotDetector, type Evidence } from '../bots/contract.ts';
import type { Subjects } from '../auth/subjects.ts';
import type { Login } from '../auth/known-logins.ts';
import type { CreateRequest } from '../protocol/create.ts';
import { Refusal } from '../protocol/refusal.ts';
import { withOverrides } from '../quota/ceilings.ts';
import { sharedCeilings } from '../quota/shared-ceilings.ts';
import type { Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import type { Events } from '../telemetry/events.ts';
import { resolveSessionConfig, type CallModeOf, type SessionConfig } from '../tenants/agents.ts';
import { invalidWidgetKey, type TenantDirectory } from '../tenants/directory.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import { whoseOf, type AdmittedCaller } from './allowances.ts';

export interface AdmissionDeps {
  readonly directory: TenantDirectory;
  readonly subjects: Subjects;
  readonly bots: BotDetector;
  readonly limits: { readonly widget: CallerLimits; readonly console: CallerLimits };
  readonly requireOrigin: boolean;
  readonly requireLogin: boolean;
  readonly callModeOf: CallModeOf;
  readonly provider: Pick<UpstreamProvider, 'name' | 'capabilities'>;
  readonly events: Events;
}

/** A caller that may open a session, and what the session will be. */
export interface Admission {
  readonly who: AdmittedCaller;
  readonly session: SessionConfig;
}

/** Who calls, from where, for which agent (docs/contract.md, section 4.1): the checks that cost nothing. */
export function admit(
  body: CreateRequest,
  login: Login | undefined,
  origin: string | undefined,
  deps: AdmissionDeps,
): Admission | Refusal {
  if (deps.requireLogin && login === undefined)
    return new Refusal(
      'AUTH_REQUIRED',
      'This installation opens sessions for logged-in callers only (REQUIRE_AUTH_FOR_SESSION).',
      {},
      { lever: 'REQUIRE_AUTH_FOR_SESSION' },
    );
  if (body.widgetKey !== undefined) return admitWidget(body, body.widgetKey, origin, deps);
  if (login !== undefined) return admitConsole(body, login, deps);
  return new Refusal(
    'INVALID_WIDGET_KEY',
    'Send a widgetKey, or log in to the console.',
    {},
    { fact: 'none was sent' },
  );
}

function admitWidget(
  body: CreateRequest,
  text: string,
  origin: string | undefined,
  deps: AdmissionDeps,
): Admission | Refusal {
  const found = deps.directory.keyOf(text);
  if (found === undefined) return invalidWidgetKey({ fact: 'nobody has this key' });
  const { key, tenant } = found;
  const whose = { tenantId: tenant.id, keyId: key.id };
  if (key.revokedAtMs !== null) return invalidWidgetKey({ ...whose, fact: 'the key is revoked' });
  if ((body.tenantId ?? tenant.id) !== tenant.id)
    return invalidWidgetKey({ ...whose, fact: "another tenant's was named" });
  if (origin === undefined ? deps.requireOrigin : origin !== key.origin)
    return new Refusal(
      'ORIGIN_MISMATCH',
      `This widgetKey works only from the origin it is bound to, not from ${origin ?? 'a request without Origin'}.`,
      {},
      { ...whose, expected: key.origin, lever: origin === undefined ? 'REQUIRE_ORIGIN_FOR_WIDGETS' : 'origin' },
    );
  if (key.pausedAtMs !== null)
    return new Refusal('KEY_PAUSED', 'This widgetKey is paused: it opens no sessions until it is resumed.', {}, whose);
  return withSession(tenant, key, body, deps, {
    caller: 'widget',
    subject:
      body.email === undefined
        ? deps.subjects.widgetKey(tenant.id, key.id)
        : deps.subjects.widgetUser(tenant.id, body.email),
    tenantId: tenant.id,
    keyId: key.id,
    named: body.email !== undefined,
    loginId: null,
    limits: withOverrides(deps.limits.widget, key.limits),
    overrides: key.limits,
    shared: sharedCeilings(tenant.id, key.id, key, tenant),
  });
}

function admitConsole(body: CreateRequest, login: Login, deps: AdmissionDeps): Admission | Refusal {
  const tenants = deps.directory.tenantsAdmitting(login.email);
  const tenant = body.tenantId === undefined ? tenants[0] : tenants.find(({ id }) => id === body.tenantId);
  if (tenant === undefined)
    return new Refusal('FORBIDDEN', 'No such tenant admits you; ask its administrator.', {}, { lever: 'admins' });
  if (body.tenantId === undefined && tenants.length > 1) {
    const message = 'is needed, because more than one tenant admits you';
    return new Refusal('INVALID_REQUEST', `tenantId: ${message}`, { details: [{ path: 'tenantId', message }] });
  }
  return withSession(tenant, null, body, deps, {
    caller: 'console',
    subject: deps.subjects.console(login.email),
    tenantId: tenant.id,
    keyId: null,
    named: true,
    loginId: login.id,
    limits: deps.limits.console,
    shared: [],
  });
}

function withSession(
  tenant: Tenant,
  key: WidgetKey | null,
  body: CreateRequest,
  { callModeOf, provider }: AdmissionDeps,
  who: AdmittedCaller,
): Admission | Refusal {
  if ((body.tools?.length ?? 0) > 0 && !provider.capabilities.tools)
    return noTools(provider.name).because(whoseOf(who));
  const session = resolveSessionConfig(tenant, key, body, callModeOf);
  return session instanceof Refusal ? session.because(whoseOf(who)) : { who, session };
}

/** Tools that would be dropped in silence are a fault of the request; an agent's are warned of at the start. */
function noTools(provider: string): Refusal {
  const message = `must be left out: calls of the provider ${provider} have no tools`;
  return new Refusal(
    'INVALID_REQUEST',
    `tools: ${message}`,
    { details: [{ path: 'tools', message }] },
    { layer: 'agent', lever: 'UPSTREAM_PROVIDER', fact: 'its calls have no tools' },
  );
}

/** The bot verdict on a request, logged with its request id; undefined when the caller may go on (docs/contract.md, section 4.2). */
export async function refuseIfBot(
  request: Omit<Evidence, 'ip'>,
  ip: string,
  deps: AdmissionDeps,
): Promise<Refusal | undefined> {
  const { headers, path, method, requestId } = request;
  const verdict = await deps.bots.assess({ ip, headers, path, method, requestId });
  deps.events.botJudged(verdict, requestId);
  if (!isBlocked(verdict)) return undefined;
  const why = { lever: 'BOT_PROVIDER', verdict: `${verdict.provider} ${verdict.confidence}` };
  return new Refusal('BOT_BLOCKED', 'The bot verdict on this request is negative.', {}, why);
}
