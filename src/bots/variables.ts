import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

export const bots = {
  provider: variable(
    'BOT_PROVIDER',
    s.choice(['none', 'heuristic', 'http', 'turnstile', 'hcaptcha', 'recaptcha', 'altcha']),
    { unset: 'none in development, heuristic in production' },
    'what decides whether a caller is a bot: none, heuristic (reads headers only), http (asks BOT_VERDICT_URL), or challenges from turnstile, hcaptcha, recaptcha (v3) or altcha, which needs no other service',
    { example: 'heuristic' },
  ),
  siteKey: variable(
    'BOT_SITE_KEY',
    s.credential,
    { unset: 'unset' },
    'the public site key at the provider of challenges',
    { example: '0x4AAAAAAA', neededBy: 'BOT_PROVIDER=turnstile|hcaptcha|recaptcha' },
  ),
  secret: variable('BOT_SECRET', s.credential, { unset: 'unset' }, 'the secret key at the provider of challenges', {
    example: 'secret',
    neededBy: 'BOT_PROVIDER=turnstile|hcaptcha|recaptcha',
    secret: 'all',
  }),
  minScore: variable(
    'BOT_MIN_SCORE',
    s.share,
    '0.5',
    'the recaptcha score, from 0 to 1, below which a caller is a bot',
  ),
  challenge: variable(
    'BOT_CHALLENGE',
    s.choice(['suspect', 'always']),
    'suspect',
    'who has to solve a challenge: suspect callers, or always everybody',
  ),
  whenAway: variable(
    'BOT_WHEN_AWAY',
    s.choice(['heuristic', 'block']),
    'heuristic',
    'while the provider of challenges does not answer: heuristic lets the heuristic decide, block refuses everybody who has to solve a challenge',
  ),
  verifyUrl: variable(
    'BOT_VERIFY_URL',
    s.url(['http', 'https']),
    { unset: "the provider's own" },
    'the address that verifies solved challenges',
    { example: 'https://siteverify.example.com/turnstile/v0/siteverify', secret: 'in address' },
  ),
  verdictUrl: variable(
    'BOT_VERDICT_URL',
    s.url(['http', 'https']),
    { unset: 'unset' },
    'the service that gives verdicts for BOT_PROVIDER=http',
    { example: 'https://bots.example.com/verdict', neededBy: 'BOT_PROVIDER=http', secret: 'in address' },
  ),
  verdictToken: variable('BOT_VERDICT_TOKEN', s.credential, { unset: 'unset' }, 'bearer token for BOT_VERDICT_URL', {
    example: 'token',
    secret: 'all',
  }),
};
