import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../kernel/post.ts';
import type { AltchaChallenge } from '../protocol/challenge.ts';
import type { Binding } from './binding.ts';
import type { ChallengeChecker, ChallengedKey, ChallengeResult } from './contract.ts';

/** A phone tries this many numbers in about two seconds; on average half of them suffice. */
const MAX_NUMBER = 250_000;
/** For callers that are suspect for many reasons. */
const MAX_TIMES_HARDER = 8;
const VALID_SEC = 5 * 60;
const MAX_TOKEN = 2048;
/** Our salts end with `&`, so that no digit of the number can be moved into the salt. */
const SALT = /^([\w-]{22})\.[\w-]{16}\?expires=(\d{10,11})&$/;

const solution = z.object({
  algorithm: z.literal('SHA-256'),
  challenge: z.string().regex(/^[0-9a-f]{64}$/),
  number: z
    .int()
    .min(0)
    .max(MAX_NUMBER * MAX_TIMES_HARDER),
  salt: z.string().regex(SALT),
  signature: z.string().regex(/^[0-9a-f]{64}$/),
});

export interface Altcha extends ChallengeChecker {
  /** A challenge for a page of the key. @param suspicions each after the first doubles the work, up to eight times */
  make(key: ChallengedKey, suspicions: number, atMs: number): AltchaChallenge;
}

/**
 * Proof of work as defined by ALTCHA (version 1): the page finds the number that, appended to the salt, has the given SHA-256. It contacts
 * no third party, and costs a script computing time but nothing else.
 */
export function createAltcha(installationKey: Buffer, binding: Binding): Altcha {
  // A derived key, because the installation's own is used to name other things.
  const key = createHmac('sha256', installationKey).update('altcha').digest();
  const sign = (challenge: string): string => createHmac('sha256', key).update(challenge).digest('hex');

  function check({ token, key: widgetKey, atMs }: Parameters<ChallengeChecker['check']>[0]): ChallengeResult {
    const found = read(token);
    if (found === undefined) return { outcome: 'wrong', reason: 'the token is none' };
    const { challenge, number, salt, signature } = found;
    const [, data = '', expires] = SALT.exec(salt) ?? [];
    if (!isSame(signature, sign(challenge))) return { outcome: 'wrong', reason: 'nobody here set this challenge' };
    if (hashOf(salt, number) !== challenge) return { outcome: 'wrong', reason: 'the challenge is not solved' };
    if (Number(expires) * 1000 < atMs) return { outcome: 'wrong', reason: 'the challenge is older than five minutes' };
    if (!binding.holds(data, widgetKey, atMs)) return { outcome: 'wrong', reason: 'solved with another data' };
    return { outcome: 'solved', confidence: 0.5 };
  }

  return {
    make(widgetKey, suspicions, atMs) {
      const maxnumber = MAX_NUMBER * Math.min(MAX_TIMES_HARDER, 2 ** Math.max(0, suspicions - 1));
      const expires = Math.floor(atMs / 1000) + VALID_SEC;
      const salt = `${binding.dataFor(widgetKey, atMs)}.${randomBytes(12).toString('base64url')}?expires=${expires}&`;
      const challenge = hashOf(salt, randomInt(maxnumber + 1));
      return { algorithm: 'SHA-256', challenge, maxnumber, salt, signature: sign(challenge) };
    },
    once: (token) => read(token)?.challenge,
    check,
  };
}

/** Parses what a page sends: the solution as JSON in base64. */
function read(token: string): z.infer<typeof solution> | undefined {
  if (token.length > MAX_TOKEN) return undefined;
  return solution.safeParse(parseJson(Buffer.from(token, 'base64').toString('utf8'))).data;
}

function hashOf(salt: string, number: number): string {
  return createHash('sha256').update(`${salt}${number}`).digest('hex');
}

/** Both must have the same length. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
