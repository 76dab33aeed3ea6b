import type { Subjects } from '../../auth/subjects.ts';
import type { SuspectList, Verdict, WidgetEvidence } from '../../bots/contract.ts';
import { ifAway } from '../../kernel/errors.ts';
import { andThen } from '../../kernel/async.ts';
import { CHALLENGE_HEADER } from '../../protocol/challenge.ts';
import { withTranscriber } from '../../protocol/behaviour.ts';
import type { CreateRequest } from '../../protocol/create.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import type { WidgetKey } from '../../stores/tenants/contract.ts';
import { resolveSessionConfig, type SessionConfig } from '../../tenants/agents.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import type { UpstreamProvider } from '../../upstream/contract.ts';
import type { AdmittedCaller, CallerFound, CreateContext, CreateDeps, CreateStep, TenantFound } from './step.ts';

/** A process that was suspended reads the database before it admits anybody: a key may have been revoked meanwhile. */
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

/** Finds the tenant: the one of the widget key that was sent; without a key, one that admits the console user. */
export const findTenant: CreateStep = {
  name: 'key',
  take(context, deps) {
    const { body, login } = context.input;
    if (body.widgetKey !== undefined) return findWidgetKey(context, body.widgetKey, deps);
    if (login !== undefined) return findConsoleTenant(context, body, login.email, deps);
    const error =
      'Send a widgetKey, or log in to the console. A back end with a service token alone asks POST /v1/realtime/client_secrets.';
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

/** A widget key is bound to one origin. A console caller's origin was checked with its cookie. */
export const checkOrigin: CreateStep = {
  name: 'origin',
  take({ input: { origin }, key }: TenantFound, { config }: Pick<CreateDeps, 'config'>) {
    if (key === null || (origin === undefined ? !config.requireOriginForWidgets : origin === key.origin))
      return undefined;
    return originRefusal(key, origin);
  },
};

/** The refusal for a page whose key belongs to another origin. @param origin of the page; undefined where the request had none */
export function originRefusal(key: Pick<WidgetKey, 'origin'>, origin: string | undefined): Refusal {
  return new Refusal(
    'ORIGIN_MISMATCH',
    `This widgetKey works only from the origin it is bound to, not from ${origin ?? 'a request without Origin'}.`,
    {},
    { expected: key.origin, lever: origin === undefined ? 'REQUIRE_ORIGIN_FOR_WIDGETS' : 'origin' },
  );
}

export const refuseStopped: CreateStep = {
  name: 'stopped',
  take: ({ tenant }: TenantFound, { tenants }: Pick<CreateDeps, 'tenants'>) =>
    tenants.stopOf(tenant.id) === undefined ? undefined : stoppedRefusal(),
};

/** The refusal while an emergency stop is in force. Who ordered it and why is shown to operators only. */
export function stoppedRefusal(): Refusal {
  return new Refusal(
    'SERVICE_STOPPED',
    'An operator has stopped this service: it opens no sessions until it is resumed.',
  );
}

export const refusePaused: CreateStep = {
  name: 'paused',
  take({ key }: TenantFound) {
    if (key === null || key.pausedAtMs === null) return undefined;
    return new Refusal('KEY_PAUSED', 'This widgetKey is paused: it opens no sessions until it is resumed.');
  },
};

/** Finds the subject that the session is counted for, and the limits that apply to it. */
export const nameCaller: CreateStep = {
  name: 'caller',
  take(context: TenantFound, deps: Pick<CreateDeps, 'usage' | 'identity'>) {
    context.caller = callerOf(context, deps);
    return undefined;
  },
};

function callerOf(
  { input: { body, login }, tenant: { id: tenantId }, key }: TenantFound,
  { usage, identity: { subjects } }: Pick<CreateDeps, 'usage' | 'identity'>,
): AdmittedCaller {
  const caller = key === null ? 'console' : 'widget';
  const keyId = key?.id ?? null;
  const ceilings = { limits: usage.limitsOf(caller, tenantId, keyId), shared: usage.sharedOf(tenantId, keyId) };
  if (key === null) {
    const [subject, loginId] = [subjects.console(login?.email ?? ''), login?.id ?? null];
    return { caller, subject, tenantId, keyId, named: true, loginId, ...ceilings };
  }
  return {
    caller,
    subject: widgetSubject(tenantId, key.id, body.email, subjects),
    tenantId,
    keyId,
    named: body.email !== undefined,
    loginId: null,
    overrides: key.limits,
    ...ceilings,
  };
}

/** All visitors that a widget does not name share one subject. */
function widgetSubject(tenantId: string, keyId: string, email: string | undefined, subjects: Subjects): string {
  return email === undefined ? subjects.widgetKey(tenantId, keyId) : subjects.widgetUser(tenantId, email);
}

/** Tools that the provider would silently drop are an error of the request; for an agent's own tools there is a warning at the start. */
export const refuseTools: CreateStep = {
  name: 'tools',
  take({ input: { body } }, { provider }: Pick<CreateDeps, 'provider'>) {
    if (provider.capabilities.tools || (body.tools?.length ?? 0) === 0) return undefined;
    const message = `must be left out: calls of the provider ${provider.name} have no tools`;
    const why = { layer: 'agent', lever: 'UPSTREAM_PROVIDER', fact: 'its calls have no tools' } as const;
    return wrongField('tools', message, why);
  },
};

/** A page could claim any identity: only a back end may hand on who a visitor is. */
export const refuseContext: CreateStep = {
  name: 'context',
  take({ input: { body, isService } }: CreateContext) {
    if (body.context === undefined || isService) return undefined;
    const message =
      'is for back ends: send a service token (Authorization: Bearer, one of SERVICE_TOKENS), or metadata in its place';
    const error = `context: ${message}.`;
    return new Refusal('FORBIDDEN', error, { details: [{ path: 'context', message }] }, { lever: 'SERVICE_TOKENS' });
  },
};

/** Decides what the session will be: its agent, and which of the agent's settings the caller may override. */
export const chooseConfig: CreateStep = {
  name: 'agent',
  take(context: CallerFound, { calls, provider }: Pick<CreateDeps, 'calls' | 'provider'>) {
    const config = resolveSessionConfig(context.tenant, context.key, context.input.body, calls.modeOf);
    if (config instanceof Refusal) return config;
    context.config = configAt(provider, config);
    return undefined;
  },
};

/** A session's configuration at a provider: fills in that provider's own model for transcribing visitors. */
export function configAt({ transcriber }: Pick<UpstreamProvider, 'transcriber'>, config: SessionConfig): SessionConfig {
  return { ...config, behaviour: withTranscriber(config.behaviour, transcriber) };
}

/** Starts counting the subject's open sessions, which may make a caller suspect, while other steps run. */
export const beginWeighing: CreateStep = {
  name: 'suspicion',
  take(context: CallerFound, { bots, live }: Pick<CreateDeps, 'bots' | 'live'>) {
    const { key, caller, input } = context;
    if (key === null || bots.weighs?.(key) !== true) return undefined;
    const held = live.slots.count(caller.subject, input.request.atMs);
    // Where counting fails, a later step refuses the slot for that reason.
    context.slotsHeld = held instanceof Promise ? held.catch(ifAway(() => 0)) : held;
    return undefined;
  },
};

/** Every verdict is logged with the id of its request (docs/contract.md, section 4.2). */
export const refuseBot: CreateStep = {
  name: 'bot',
  take(context: CallerFound, { bots, events, suspects }: Pick<CreateDeps, 'bots' | 'events' | 'suspects'>) {
    if (context.input.vouches === true) return undefined;
    const { headers, path, method, requestId } = context.input.request;
    const evidence = { ip: context.input.ip, headers, path, method, requestId, widget: widgetOf(context, suspects) };
    return andThen(bots.assess(evidence), (verdict) => {
      events.botJudged(verdict, requestId, context.caller);
      context.hasSolved = verdict.outcome === 'solved';
      const lever = context.key?.bots?.provider === undefined ? 'BOT_PROVIDER' : 'bots.provider';
      return isBlocked(verdict) ? botRefusal(verdict, lever) : undefined;
    });
  },
};

/** Only widget callers are challenged: a login has proved an address. */
function widgetOf(
  { key, claim, caller, slotsHeld = 0, input }: CallerFound,
  suspects: SuspectList,
): WidgetEvidence | undefined {
  if (key === null) return undefined;
  const { addressScope, window, isService, request } = input;
  const { requestId, atMs } = request;
  const asking = { key, address: isService ? undefined : addressScope, window };
  const suspicions = () =>
    andThen(slotsHeld, (held) => [
      ...suspects.reasonsFor(asking, atMs),
      ...(2 * held > caller.limits.concurrentSessions ? ['more than half of its slots are taken'] : []),
    ]);
  return { key, addressScope, createId: claim?.keyHash ?? requestId, atMs, suspicions };
}

/** docs/contract.md, section 4.2: a bot is blocked unless it is verified; confidence does not matter. */
export function isBlocked(verdict: Pick<Verdict, 'isBot' | 'isVerifiedBot'>): boolean {
  return verdict.isBot && !verdict.isVerifiedBot;
}

function botRefusal({ provider, confidence, reason, challenge }: Verdict, lever: string): Refusal {
  const why = { lever, verdict: `${provider} ${confidence}` };
  const error = 'The bot verdict on this request is negative';
  if (challenge === undefined) return new Refusal('BOT_BLOCKED', `${error}.`, {}, why);
  const how = `solve the challenge, and send the create again with its token in ${CHALLENGE_HEADER}`;
  // Another detector's reasons may repeat what the caller sent, so they are not quoted here.
  return new Refusal(
    'BOT_BLOCKED',
    `${error}: ${how}.`,
    { challenge },
    { ...why, ...(reason !== undefined && { fact: reason }) },
  );
}
