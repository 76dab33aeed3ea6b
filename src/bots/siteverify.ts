import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../kernel/post.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { OutboundFailure, type Outbound, type OutboundReply } from '../outbound/contract.ts';
import { CHALLENGE_ACTION } from '../protocol/challenge.ts';
import type { Binding } from './binding.ts';
import type { ChallengeChecker, ChallengeResult, ChallengeQuestion } from './contract.ts';

/** How a provider verifies tokens, and which fields of its answer must be right besides `success`. A missing field is wrong. */
interface Siteverify {
  readonly url: string;
  /** What is sent besides secret, token and address. */
  readonly more?: (question: ChallengeQuestion) => Readonly<Record<string, string>>;
  readonly checks: readonly ('hostname' | 'action' | 'cdata' | 'age' | 'score')[];
}

const siteverify = {
  turnstile: {
    url: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    // A create that is repeated because its answer was lost gets the same result again.
    more: ({ createId }) => ({ idempotency_key: uuidOf(createId) }),
    checks: ['hostname', 'action', 'cdata', 'age'],
  },
  hcaptcha: {
    url: 'https://api.hcaptcha.com/siteverify',
    // Otherwise a token that was solved for another site of ours would count.
    more: ({ settings }) => ({ sitekey: settings.siteKey ?? '' }),
    checks: ['hostname'],
  },
  recaptcha: {
    url: 'https://www.google.com/recaptcha/api/siteverify',
    checks: ['hostname', 'action', 'score'],
  },
} as const satisfies Record<string, Siteverify>;

type SiteverifyProvider = keyof typeof siteverify;

const TIMEOUT_MS = 1_500;
const MAX_REPLY_BYTES = 16 * 1024;
/** Tokens are at most a few kilobytes of these characters; anything else is not a token and is not passed on. */
const TOKEN = /^[\w.~+/=:|-]{1,8192}$/;
const MAX_AGE_MS = 5 * MINUTE_MS;

/** Error codes about our settings, which no caller can cause. */
const OUR_FAULTS = new Set(['missing-input-secret', 'invalid-input-secret']);
/** Error codes by which the provider reports that it failed. */
const ITS_FAULTS = new Set(['internal-error']);

const reply = z.object({
  success: z.boolean(),
  hostname: z.string().nullish(),
  action: z.string().nullish(),
  cdata: z.string().nullish(),
  score: z.number().nullish(),
  challenge_ts: z.string().nullish(),
  'error-codes': z.array(z.string()).nullish(),
});

type Reply = z.infer<typeof reply>;

export interface SiteverifyDeps {
  readonly outbound: Outbound;
  readonly binding: Binding;
}

/**
 * Asks a provider whether a token was solved. A caller must not be able to make the provider seem away, because the challenge would not
 * count then. So whatever the token or too many of them cause is `wrong`; only faults of the provider or our settings are `away` or
 * `misconfigured`.
 */
export function createSiteverify(
  provider: SiteverifyProvider,
  { outbound, binding }: SiteverifyDeps,
): ChallengeChecker {
  const row: Siteverify = siteverify[provider];
  async function check(question: ChallengeQuestion): Promise<ChallengeResult> {
    const { token, ip, settings, addressScope } = question;
    const secret = await settings.secret();
    if (secret === undefined) return { outcome: 'misconfigured', reason: 'there is no secret to verify by' };
    const body = new URLSearchParams({ secret, response: token, remoteip: ip, ...row.more?.(question) }).toString();
    try {
      const answer = await outbound.request({
        method: 'POST',
        url: new URL(settings.verifyUrl ?? row.url),
        owner: settings.owner,
        // Limits the requests in flight of one address, so that it takes no places from others.
        session: addressScope,
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
        body,
        timeoutMs: TIMEOUT_MS,
        maxReplyBytes: MAX_REPLY_BYTES,
      });
      return judge(answer, row, question, binding);
    } catch (fault) {
      if (!(fault instanceof OutboundFailure)) throw fault;
      if (fault.kind === 'too_many') return { outcome: 'wrong', reason: 'too many tokens were to be verified at once' };
      return { outcome: fault.kind === 'forbidden' ? 'misconfigured' : 'away', reason: `siteverify ${fault.message}` };
    }
  }

  return { once: (token) => (TOKEN.test(token) ? token : undefined), check };
}

function judge(
  { status, body }: OutboundReply,
  row: Siteverify,
  question: ChallengeQuestion,
  binding: Binding,
): ChallengeResult {
  const said = reply.safeParse(parseJson(body.toString('utf8')));
  const isOfToken = status >= 400 && status < 500;
  if (said.success && !said.data.success && (status === 200 || isOfToken))
    return judgeCodes(said.data['error-codes'] ?? []);
  if (!said.success || status !== 200)
    return { outcome: isOfToken ? 'wrong' : 'away', reason: `siteverify answered ${status} and no verdict` };
  const failed = row.checks.find((check) => !checks[check](said.data, question, binding));
  const { score } = said.data;
  if (failed !== undefined)
    return {
      outcome: 'wrong',
      reason: `solved with another ${failed}`,
      ...(score != null && { confidence: 1 - score }),
    };
  return { outcome: 'solved', confidence: score ?? 1 };
}

function judgeCodes(codes: readonly string[]): ChallengeResult {
  const told = codes.filter((code) => /^[a-z-]{1,40}$/.test(code)).slice(0, 5);
  const reason = `siteverify answered ${told.join(', ') || 'no'}`;
  if (codes.some((code) => OUR_FAULTS.has(code))) return { outcome: 'misconfigured', reason };
  return { outcome: codes.some((code) => ITS_FAULTS.has(code)) ? 'away' : 'wrong', reason };
}

const checks: Readonly<
  Record<Siteverify['checks'][number], (said: Reply, question: ChallengeQuestion, binding: Binding) => boolean>
> = {
  hostname: ({ hostname }, { key }) => hostname === new URL(key.origin).hostname,
  action: ({ action }) => action === CHALLENGE_ACTION,
  cdata: ({ cdata }, { key, atMs }, binding) => cdata != null && binding.holds(cdata, key, atMs),
  age: ({ challenge_ts }, { atMs }) => atMs - Date.parse(challenge_ts ?? '') <= MAX_AGE_MS,
  score: ({ score }, { settings }) => score != null && score >= settings.minScore,
};

/** An id in the format of a random UUID that is the same for the same create. */
function uuidOf(createId: string): string {
  const hex = createHash('sha256').update(createId).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
