import { createAltcha } from '../bots/altcha.ts';
import { createBinding } from '../bots/binding.ts';
import type { ChallengeSettings } from '../bots/checker.ts';
import { Challenges } from '../bots/challenges.ts';
import type { ChallengedKey } from '../bots/contract.ts';
import { selectDetector } from '../bots/select.ts';
import { Suspects } from '../bots/suspects.ts';
import { createSiteverify } from '../bots/siteverify.ts';
import { cacheFor } from '../kernel/cache-for.ts';
import { deadline } from '../kernel/deadline.ts';
import { Unavailable } from '../kernel/errors.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { CHALLENGE_PROVIDERS, type ChallengeProvider } from '../protocol/challenge.ts';
import { secretsIn } from '../protocol/server-tool.ts';
import { createReadShare } from '../quota/shares.ts';
import { readSecret } from '../secrets/secrets.ts';
import type { Core } from './core.ts';
import type { OpenUsage } from './usage.ts';

/** How long a tenant's secret is cached: a changed one is in use within this time. */
const SECRETS_MS = 30_000;
const MAX_SECRETS = 10_000;

/**
 * Sets up who judges creates: as the settings say, unless the widget key says otherwise. Providers of challenges are reached through the
 * guarded way out, on connections of their own, so that tenants' servers that hang cannot use them up.
 */
export function openBots(core: Core, usage: Pick<OpenUsage, 'calendar' | 'sharedOf'>) {
  const { config, stores, live, clock, installationKey, onError } = core;
  const outbound = createOutbound({ ...config.outbound, clock, after: deadline });
  const binding = createBinding(installationKey);
  const deps = { outbound, binding };
  const settings = createSettings(core);
  const detector = new Challenges({
    checkers: {
      turnstile: createSiteverify('turnstile', deps),
      hcaptcha: createSiteverify('hcaptcha', deps),
      recaptcha: createSiteverify('recaptcha', deps),
      altcha: createAltcha(installationKey, binding),
    },
    binding,
    idempotentReplies: stores.idempotentReplies,
    settingsOf: settings.of,
    whenAway: config.bots.whenAway,
    others: selectDetector(config.bots),
  });
  const readShare = createReadShare({ ...usage, stores });
  const suspects = new Suspects({ bus: live.bus, readShare, onError, isOn: settings.isOn });
  return {
    detector,
    suspects,
    /** Closes all connections: requests under way fail. */
    close: () => outbound.close(),
  };
}

/** How callers of a key are challenged: as the key says, and for what it leaves open, as the installation says. */
function createSettings({ config, secrets, clock, onError }: Core) {
  const { provider: ofInstallation, siteKey, secret, minScore, challenge, verifyUrl } = config.bots;
  const values = cacheFor<string | undefined>(SECRETS_MS, MAX_SECRETS);
  const common = { minScore, challenge };
  const own: ChallengeSettings | undefined = isChallenge(ofInstallation)
    ? {
        ...common,
        provider: ofInstallation,
        siteKey: ofInstallation === 'altcha' ? undefined : siteKey,
        secret: () => Promise.resolve(secret),
        owner: 'installation',
        verifyUrl,
      }
    : undefined;
  let isOn = own !== undefined;

  /** Undefined where there is no secret of that name, or it cannot be opened. @throws Unavailable when the database is away */
  function read(tenantId: string, name: string): Promise<string | undefined> {
    return values(`${tenantId}/${name}`, clock.now(), () => readSecret(tenantId, name, secrets)).catch(
      (fault: unknown) => {
        if (fault instanceof Unavailable) throw fault;
        onError(fault);
        return undefined;
      },
    );
  }

  function ofKey({ bots, tenantId }: ChallengedKey): ChallengeSettings | undefined {
    if (bots === undefined) return own;
    const { provider, siteKey: site, secret: reference = '', ...more } = bots;
    if (provider === undefined) return own && { ...own, ...more };
    const [name = ''] = secretsIn(reference);
    // The configured siteverify address belongs to the installation's provider and cannot verify solutions for another one.
    const isSame = own === undefined || own.provider === provider;
    return {
      ...common,
      ...more,
      provider,
      siteKey: site,
      secret: () => read(tenantId, name),
      owner: tenantId,
      verifyUrl: isSame ? verifyUrl : undefined,
    };
  }

  return {
    of: (key: ChallengedKey): ChallengeSettings | undefined => {
      const settings = ofKey(key);
      isOn ||= settings !== undefined;
      return settings;
    },
    /** Whether anyone has been challenged here so far. */
    isOn: () => isOn,
  };
}

function isChallenge(provider: string): provider is ChallengeProvider {
  return CHALLENGE_PROVIDERS.some((one) => one === provider);
}
