import { createAltcha } from '../bots/altcha.ts';
import { createBinding } from '../bots/binding.ts';
import { Challenges, type ChallengesDeps } from '../bots/challenges.ts';
import { selectDetector } from '../bots/detectors.ts';
import { Suspects } from '../bots/suspects.ts';
import { createSiteverify } from '../bots/siteverify.ts';
import { cacheFor } from '../kernel/collections.ts';
import { deadline } from '../kernel/async.ts';
import { Unavailable } from '../kernel/errors.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { createReadShare } from '../quota/ceiling-shares.ts';
import { readSecret } from '../tenant-secrets/secrets.ts';
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
  const detector = new Challenges({
    checkers: {
      turnstile: createSiteverify('turnstile', deps),
      hcaptcha: createSiteverify('hcaptcha', deps),
      recaptcha: createSiteverify('recaptcha', deps),
      altcha: createAltcha(installationKey, binding),
    },
    binding,
    idempotentReplies: stores.idempotentReplies,
    installation: config.bots,
    readSecret: createReadSecret(core),
    others: selectDetector(config.bots),
  });
  const readShare = createReadShare({ ...usage, stores });
  const suspects = new Suspects({ bus: live.bus, readShare, onError, challenges: detector });
  return {
    detector,
    suspects,
    /** Closes all connections: requests under way fail. */
    close: () => outbound.close(),
  };
}

/** Reads secrets of tenants, from memory for a while. */
function createReadSecret({ secrets, clock, onError }: Core): ChallengesDeps['readSecret'] {
  const values = cacheFor<string | undefined>(SECRETS_MS, MAX_SECRETS);
  return (tenantId, name) =>
    values(`${tenantId}/${name}`, clock.now(), () => readSecret(tenantId, name, secrets)).catch((fault: unknown) => {
      if (fault instanceof Unavailable) throw fault;
      onError(fault);
      return undefined;
    });
}
