import { expect, test } from 'vitest';
import { createBinding } from '../../../src/bots/binding.ts';
import type { ChallengeQuestion } from '../../../src/bots/contract.ts';
import { createSiteverify } from '../../../src/bots/siteverify.ts';
import type { Outbound } from '../../../src/outbound/contract.ts';
import { NOON } from '../../support/clock.ts';

const question: ChallengeQuestion = {
  token: 'token',
  ip: '198.51.100.7',
  key: { id: 'site', tenantId: 'acme', key: 'w_acme', origin: 'https://shop.example' },
  addressScope: '198.51.100.7',
  createId: 'req_1',
  atMs: NOON,
  suspicions: () => [],
  settings: {
    provider: 'turnstile',
    siteKey: 'site-key',
    secret: () => Promise.resolve('secret'),
    minScore: 0.5,
    verifyUrl: undefined,
    challenge: 'suspect',
    owner: 'installation',
  },
};

/** What becomes of a token whose verification is answered with these error codes. */
async function outcomeOf(provider: Parameters<typeof createSiteverify>[0], codes: readonly string[]): Promise<string> {
  const body = Buffer.from(JSON.stringify({ success: false, 'error-codes': codes }));
  const outbound: Outbound = {
    request: () => Promise.resolve({ status: 200, contentType: 'application/json', body }),
    check: () => Promise.resolve(),
    close: () => undefined,
  };
  const checker = createSiteverify(provider, { outbound, binding: createBinding(Buffer.alloc(32)) });
  return (await checker.check({ ...question, settings: { ...question.settings, provider } })).outcome;
}

const ours = ['missing-input-secret', 'invalid-input-secret'];
const ofCallers = ['missing-input-response', 'invalid-input-response', 'bad-request'];

test.each([
  ['turnstile', [...ofCallers, 'timeout-or-duplicate']],
  [
    'hcaptcha',
    [
      ...ofCallers,
      'expired-input-response',
      'already-seen-response',
      'invalid-or-already-seen-response',
      'missing-remoteip',
      'invalid-remoteip',
      'not-using-dummy-passcode',
      'sitekey-secret-mismatch',
    ],
  ],
  ['recaptcha', [...ofCallers, 'timeout-or-duplicate']],
] as const)(
  'Of the error codes of %s only those about the secret are our fault, and only its own failure leaves the decision to others',
  async (provider, codes) => {
    for (const code of codes) expect([code, await outcomeOf(provider, [code])]).toEqual([code, 'wrong']);
    for (const code of ours) expect([code, await outcomeOf(provider, [code])]).toEqual([code, 'misconfigured']);
    expect(await outcomeOf(provider, ['internal-error'])).toBe('away');
    expect(await outcomeOf(provider, ['a-code-of-tomorrow'])).toBe('wrong');
    expect(await outcomeOf(provider, [])).toBe('wrong');
  },
);
