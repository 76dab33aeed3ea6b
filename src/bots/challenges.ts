import { andThen, type Eventually } from '../kernel/async.ts';
import { digestOf } from '../kernel/ids.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import {
  CHALLENGE_ACTION,
  CHALLENGE_HEADER,
  CHALLENGE_PROVIDERS,
  type AltchaChallenge,
  type Challenge,
  type ChallengeProvider,
} from '../protocol/challenge.ts';
import { secretsIn } from '../protocol/server-tool.ts';
import type { IdempotentReplies } from '../stores/idempotent-replies/contract.ts';
import type { Altcha } from './altcha.ts';
import type { Binding } from './binding.ts';
import type {
  BotDetector,
  ChallengeChecker,
  ChallengedKey,
  ChallengeResult,
  ChallengeSettings,
  Evidence,
  Verdict,
  WidgetEvidence,
  WorkQuestion,
} from './contract.ts';
import { heuristicDetector } from './detectors.ts';

const PROGRAM = 'its headers are those of a program';

/** The header in which each provider's client library sends the token. */
const ownHeaders: Readonly<Record<ChallengeProvider, string | undefined>> = {
  turnstile: 'cf-turnstile-response',
  hcaptcha: 'h-captcha-response',
  recaptcha: 'g-recaptcha-response',
  altcha: undefined,
};

/** The longest age of a token, and a minute more. */
const USED_MS = 6 * MINUTE_MS;

/** How the installation challenges callers, and what it says where a key says nothing. */
interface InstallationSettings extends Pick<ChallengeSettings, 'minScore' | 'challenge' | 'verifyUrl'> {
  /** Not always a provider of challenges: then only the callers of keys that name one are challenged. */
  readonly provider: Verdict['provider'];
  readonly siteKey: string | undefined;
  readonly secret: string | undefined;
  readonly whenAway: 'heuristic' | 'block';
}

export interface ChallengesDeps {
  readonly checkers: Readonly<Record<ChallengeProvider, ChallengeChecker>> & { readonly altcha: Altcha };
  readonly binding: Binding;
  readonly idempotentReplies: Pick<IdempotentReplies, 'look' | 'claim'>;
  readonly installation: InstallationSettings;
  /** A secret of a tenant; undefined where there is none of that name, or it cannot be opened. @throws Unavailable when the database is away */
  readonly readSecret: (tenantId: string, name: string) => Promise<string | undefined>;
  /** Judges callers that are not challenged. */
  readonly others: BotDetector;
}

/**
 * Challenges callers of widget keys: always, or only suspect ones, so that ordinary visitors cause no request to a third party. A
 * solved challenge outweighs what made its caller suspect.
 */
export class Challenges implements BotDetector {
  readonly #deps: ChallengesDeps;
  /** The installation's own settings; undefined where it challenges nobody. */
  readonly #own: ChallengeSettings | undefined;
  /** Whether anyone has been challenged here so far. */
  isOn: boolean;

  constructor(deps: ChallengesDeps) {
    this.#deps = deps;
    this.#own = ownSettings(deps.installation);
    this.isOn = this.#own !== undefined;
  }

  /** @throws Unavailable when the database is away, because it is unknown then whether a token was used */
  assess(evidence: Evidence): Eventually<Verdict> {
    const { widget } = evidence;
    const settings = widget && this.#settingsOf(widget.key);
    if (widget === undefined || settings === undefined) return this.#deps.others.assess(evidence);
    const judged = heuristicDetector.assess(evidence);
    if (settings.challenge === 'always') return this.#challenge(evidence, widget, settings, judged, []);
    return andThen(widget.suspicions(), (others) => {
      const suspicions = judged.isBot ? [PROGRAM, ...others] : others;
      return suspicions.length === 0 ? judged : this.#challenge(evidence, widget, settings, judged, suspicions);
    });
  }

  #challenge(
    evidence: Evidence,
    widget: WidgetEvidence,
    settings: ChallengeSettings,
    judged: Verdict,
    suspicions: readonly string[],
  ): Eventually<Verdict> {
    const token = tokenOf(evidence, settings.provider);
    if (token !== undefined) return this.#answer(evidence, widget, settings, token, judged);
    const reason = ['no challenge was solved', ...suspicions].join('; ');
    const confidence = judged.isBot ? judged.confidence : 0.5;
    return this.#refuse(widget, settings, { outcome: 'due', confidence, reason });
  }

  weighs(key: ChallengedKey): boolean {
    return this.#settingsOf(key)?.challenge === 'suspect';
  }

  #settingsOf(key: ChallengedKey): ChallengeSettings | undefined {
    const settings = this.#settingsOfKey(key);
    this.isOn ||= settings !== undefined;
    return settings;
  }

  /** As the key says, and for what it leaves open, as the installation says; undefined where another detector judges its callers. */
  #settingsOfKey({ bots, tenantId }: ChallengedKey): ChallengeSettings | undefined {
    const own = this.#own;
    if (bots === undefined) return own;
    const { provider, siteKey, secret: reference = '', ...more } = bots;
    if (provider === undefined) return own && { ...own, ...more };
    const { installation, readSecret } = this.#deps;
    const { minScore, challenge, verifyUrl } = installation;
    const [name = ''] = secretsIn(reference);
    // The configured siteverify address belongs to the installation's provider and cannot verify solutions for another one.
    const isSame = own === undefined || own.provider === provider;
    return {
      minScore,
      challenge,
      ...more,
      provider,
      siteKey,
      secret: () => readSecret(tenantId, name),
      owner: tenantId,
      verifyUrl: isSame ? verifyUrl : undefined,
    };
  }

  async #answer(
    evidence: Evidence,
    widget: WidgetEvidence,
    settings: ChallengeSettings,
    token: string,
    judged: Verdict,
  ): Promise<Verdict> {
    const { checkers, installation } = this.#deps;
    const { provider } = settings;
    const checker = checkers[provider];
    const once = checker.once(token);
    if (once === undefined) return this.#refuse(widget, settings, { outcome: 'wrong', reason: 'the token is none' });
    const used = await this.#lookAt(once, widget);
    const result = used ?? (await checker.check({ ...widget, ip: evidence.ip, token, settings }));
    const { outcome } = result;
    if (outcome === 'solved') {
      const { confidence } = result;
      if (used !== undefined || (await this.#use(once, widget)))
        return { isBot: false, isVerifiedBot: false, confidence, provider, outcome };
      return this.#refuse(widget, settings, usedBefore);
    }
    if (outcome === 'wrong') return this.#refuse(widget, settings, result);
    const { reason } = result;
    if (installation.whenAway === 'block' || judged.isBot)
      return { ...this.#refuse(widget, settings, { outcome, confidence: 0.5, reason }), degraded: true };
    return { ...judged, degraded: true, outcome, reason };
  }

  work({ headers, widget }: WorkQuestion): AltchaChallenge | undefined {
    if (this.#settingsOf(widget.key)?.provider !== 'altcha') return undefined;
    const suspicions = widget.suspicions.length + (heuristicDetector.assess({ headers }).isBot ? 1 : 0);
    return this.#deps.checkers.altcha.make(widget.key, suspicions, widget.atMs);
  }

  #refuse(
    widget: WidgetEvidence,
    { provider, siteKey }: ChallengeSettings,
    { outcome, reason, confidence = 1 }: Pick<Verdict, 'outcome' | 'reason'> & { readonly confidence?: number },
  ): Verdict {
    const data = this.#deps.binding.dataFor(widget.key, widget.atMs);
    const challenge: Challenge = {
      provider,
      ...(siteKey !== undefined && { siteKey }),
      action: CHALLENGE_ACTION,
      data,
    };
    return {
      isBot: true,
      isVerifiedBot: false,
      confidence,
      provider,
      ...(outcome !== undefined && { outcome }),
      ...(reason !== undefined && { reason }),
      challenge,
    };
  }

  /**
   * The result for a token that was used before; undefined for a fresh one. The create that used it may use it again when it is repeated,
   * because at most one session results from it.
   */
  async #lookAt(once: string, { createId, atMs }: WidgetEvidence): Promise<ChallengeResult | undefined> {
    const { kind } = await this.#deps.idempotentReplies.look(tokenName(once), digestOf(createId), atMs);
    if (kind === 'free') return undefined;
    return kind === 'mismatch' ? usedBefore : { outcome: 'solved', confidence: 1 };
  }

  /** Whether this create is the first on any node to use the token. */
  async #use(once: string, { createId, atMs }: WidgetEvidence): Promise<boolean> {
    const { kind } = await this.#deps.idempotentReplies.claim(tokenName(once), digestOf(createId), USED_MS, atMs);
    return kind === 'claimed';
  }
}

function ownSettings({
  provider,
  siteKey,
  secret,
  minScore,
  challenge,
  verifyUrl,
}: InstallationSettings): ChallengeSettings | undefined {
  if (!isChallenge(provider)) return undefined;
  return {
    minScore,
    challenge,
    provider,
    siteKey: provider === 'altcha' ? undefined : siteKey,
    secret: () => Promise.resolve(secret),
    owner: 'installation',
    verifyUrl,
  };
}

function isChallenge(provider: string): provider is ChallengeProvider {
  return CHALLENGE_PROVIDERS.some((one) => one === provider);
}

const usedBefore = { outcome: 'wrong', reason: 'the token was used before' } as const;

/** The prefix keeps these names apart from the keys of stored replies. */
function tokenName(once: string): string {
  return digestOf(JSON.stringify(['challenge', once]));
}

function tokenOf({ headers }: Evidence, provider: ChallengeProvider): string | undefined {
  const token = headers[CHALLENGE_HEADER.toLowerCase()] ?? headers[ownHeaders[provider] ?? ''];
  return token === '' ? undefined : token;
}
