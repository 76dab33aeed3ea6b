import type { Config } from '../../config/config.ts';
import { createAltcha } from '../bots/altcha.ts';
import { createBinding } from '../bots/binding.ts';
import type { ChallengeSettings } from '../bots/checker.ts';
import { Challenges } from '../bots/challenges.ts';
import type { BotDetector } from '../bots/contract.ts';
import { selectDetector } from '../bots/select.ts';
import { Suspects } from '../bots/suspects.ts';
import { createSiteverify } from '../bots/siteverify.ts';
import { deadline } from '../kernel/deadline.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { CHALLENGE_PROVIDERS, type ChallengeProvider } from '../protocol/challenge.ts';
import { createReadShare } from '../quota/shares.ts';
import type { Core } from './core.ts';
import type { OpenUsage } from './usage.ts';

export interface OpenBots {
  readonly detector: BotDetector;
  readonly suspects: Suspects;
  /** Lets go of idle connections. */
  close(): void;
}

/** Who judges creates: as the settings say. Providers of challenges are asked by the guarded way out, on connections of their own. */
export function openBots(core: Core, usage: Pick<OpenUsage, 'calendar' | 'sharedOf'>): OpenBots {
  const { config, stores, live, clock, installationKey, onError } = core;

  const outbound = createOutbound({ ...config.outbound, clock, after: deadline });
  const binding = createBinding(installationKey);
  const deps = { outbound, binding, url: config.bots.verifyUrl };
  const own = settingsOf(config.bots);
  const detector = new Challenges({
    checkers: {
      turnstile: createSiteverify('turnstile', deps),
      hcaptcha: createSiteverify('hcaptcha', deps),
      recaptcha: createSiteverify('recaptcha', deps),
      altcha: createAltcha(installationKey, binding),
    },
    binding,
    replays: stores.replays,
    settingsOf: () => own,
    whenAway: config.bots.whenAway,
    others: selectDetector(config.bots),
  });
  const readShare = createReadShare({ ...usage, stores });
  const suspects = new Suspects({ bus: live.bus, readShare, onError, isOn: () => own !== undefined });
  return { detector, suspects, close: () => outbound.close() };
}

/** Of the installation; undefined where it sets no challenges. */
function settingsOf({ provider, siteKey, secret, minScore, challenge }: Config['bots']): ChallengeSettings | undefined {
  if (!isChallenge(provider)) return undefined;
  return {
    provider,
    siteKey: provider === 'altcha' ? undefined : siteKey,
    secret: () => Promise.resolve(secret),
    minScore,
    challenge,
    owner: 'installation',
  };
}

function isChallenge(provider: string): provider is ChallengeProvider {
  return CHALLENGE_PROVIDERS.some((one) => one === provider);
}
