import { describe, expect, test } from 'vitest';
import { layerOf } from '../../../src/operators/journal/refusals.ts';
import { explainRefusal, viewOfRefusal } from '../../../src/operators/journal/view.ts';
import { type Code, ERROR_CODES } from '../../../src/protocol/errors/error-codes.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { LAYERS } from '../../../src/protocol/errors/error-row.ts';
import type { About, NewEntry, RefusalDetail } from '../../../src/stores/journal/contract.ts';

type Fields = Pick<About, 'tenantId' | 'keyId' | 'subject'> &
  Partial<Pick<RefusalDetail, 'status' | 'layer' | 'route' | 'origin'>> & {
    readonly code: string;
    readonly detail?: Partial<RefusalDetail>;
  };

const kept = ({ code, tenantId, keyId, subject, detail, ...more }: Fields): NewEntry<'refusal'> => ({
  id: 'entry',
  kind: 'refusal',
  requestId: 'req_1',
  atMs: 0,
  node: 'one',
  of: { tenantId: tenantId ?? null, keyId: keyId ?? null, subject: subject ?? null },
  code,
  detail: {
    status: 400,
    layer: 'edge',
    route: '/api/session',
    origin: null,
    addressHash: null,
    network: null,
    ...more,
    ...detail,
  },
});

const codes = Object.keys(ERROR_CODES) as Code[];

describe('The explanation of a refusal', () => {
  test.each(codes)('is one sentence for %s, whatever is known of it, and names a layer', (code) => {
    const { sentence } = explainRefusal(kept({ code }));
    expect(sentence).toMatch(/^[A-Z/].+\.$/);
    expect(sentence).not.toContain('undefined');
    expect(sentence).not.toBe(`The request was refused with ${code}.`);
    expect(LAYERS).toContain(layerOf(new Refusal(code, 'no')));
  });

  test('of a spent day tells the total of a console user only to who sees all tenants', () => {
    const detail = { limit: 300_000, count: 300_100, unit: 'tokens', lever: 'CONSOLE_MAX_TOKENS_DAILY' } as const;
    const spent = kept({ code: 'DAILY_QUOTA_EXCEEDED', layer: 'quota', tenantId: 'acme', detail });
    expect(viewOfRefusal(spent, '*')).toMatchObject({ count: 300_100, sentence: expect.stringContaining('300,100') });
    const cut = viewOfRefusal(spent, ['acme']);
    expect(cut).toMatchObject({ count: null, limit: 300_000, lever: 'CONSOLE_MAX_TOKENS_DAILY' });
    expect(JSON.stringify(cut)).not.toMatch(/300,?100/);
    expect(viewOfRefusal({ ...spent, of: { keyId: 'site' } }, ['acme'])).toMatchObject({ count: 300_100 });
  });

  test('of a code of another version names the code', () => {
    expect(explainRefusal(kept({ code: 'OF_TOMORROW' }))).toEqual({
      sentence: 'The request was refused with OF_TOMORROW.',
      lever: null,
    });
    expect(explainRefusal(kept({ code: 'constructor' })).sentence).toBe('The request was refused with constructor.');
  });

  const told: [string, Fields, string, string | null][] = [
    [
      'a minute that is used up',
      {
        code: 'RATE_LIMIT_EXCEEDED',
        layer: 'minute',
        detail: { limit: 12, count: 12, unit: 'sessions', lever: 'WIDGET_SESSION_PER_MIN', retryAfter: 22 },
      },
      'More than 12 sessions in one minute (WIDGET_SESSION_PER_MIN); the caller was told to wait 22 s.',
      'WIDGET_SESSION_PER_MIN',
    ],
    [
      "a key's minute",
      {
        code: 'RATE_LIMIT_EXCEEDED',
        layer: 'minute',
        detail: { limit: 1, unit: 'sessions', lever: 'totals.sessionsPerMinute' },
      },
      'More than 1 session of the whole key in one minute (totals.sessionsPerMinute).',
      'totals.sessionsPerMinute',
    ],
    [
      'codes of an hour',
      { code: 'RATE_LIMIT_EXCEEDED', layer: 'login', detail: { limit: 3, unit: 'codes', lever: 'MAX_OTP_PER_HOUR' } },
      'More than 3 codes in one hour (MAX_OTP_PER_HOUR).',
      'MAX_OTP_PER_HOUR',
    ],
    [
      'requests that the provider takes',
      { code: 'RATE_LIMIT_EXCEEDED', layer: 'mint', detail: { retryAfter: 7 } },
      'The voice provider took no more requests at that moment; the caller was told to wait 7 s.',
      null,
    ],
    [
      'calls of a session',
      { code: 'RATE_LIMIT_EXCEEDED', layer: 'slot', detail: { limit: 3, unit: 'calls', lever: 'CALLS_PER_SESSION' } },
      'The session had had its 3 calls (CALLS_PER_SESSION).',
      'CALLS_PER_SESSION',
    ],
    [
      'the one session that may be open',
      {
        code: 'MAX_CONCURRENT_SESSIONS',
        detail: { limit: 1, unit: 'sessions', lever: 'CONSOLE_MAX_CONCURRENT_SESSIONS' },
      },
      '1 session was open already (CONSOLE_MAX_CONCURRENT_SESSIONS).',
      'CONSOLE_MAX_CONCURRENT_SESSIONS',
    ],
    [
      'dollars of a day',
      {
        code: 'DAILY_QUOTA_EXCEEDED',
        detail: { limit: 20, count: 20.5, unit: 'dollars', lever: 'limits.dailyDollars' },
      },
      "$20.50 of the day's $20.00 were used (limits.dailyDollars).",
      'limits.dailyDollars',
    ],
    [
      'what is held back',
      { code: 'DAILY_QUOTA_EXCEEDED', detail: { lever: 'RESERVE_SEC', fact: 'it is held back' } },
      "Nothing is left of the day's ceiling: it is held back (RESERVE_SEC).",
      'RESERVE_SEC',
    ],
    [
      'a foreign origin',
      {
        code: 'ORIGIN_MISMATCH',
        origin: 'https://evil.example',
        detail: { expected: 'https://www.acme.example', lever: 'origin' },
      },
      'The request came from https://evil.example, and the key is bound to https://www.acme.example (origin).',
      'origin',
    ],
    [
      'an agent that the key does not allow',
      { code: 'FORBIDDEN', layer: 'agent', detail: { expected: 'support, sales', lever: 'agents' } },
      'The widget key allows the agents support, sales only (agents).',
      'agents',
    ],
    [
      'a bot',
      { code: 'BOT_BLOCKED', detail: { verdict: 'heuristic 0.93', lever: 'BOT_PROVIDER' } },
      'The caller was judged a bot (heuristic 0.93) (BOT_PROVIDER).',
      'BOT_PROVIDER',
    ],
    [
      'an ended session',
      { code: 'SESSION_DURATION_EXCEEDED', detail: { reason: 'idle_exceeded' } },
      'The session had ended before: idle_exceeded.',
      null,
    ],
  ];

  test.each(told)('of %s has its numbers and what decides', (_what, refusal, sentence, lever) => {
    expect(explainRefusal(kept(refusal))).toEqual({ sentence, lever });
  });
});
