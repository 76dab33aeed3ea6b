import { expect, test } from 'vitest';
import { alertMail } from '../../../src/mail/templates/alert.ts';

test('Large numbers in mails have commas between thousands, and none among decimals', () => {
  const budget = { id: 'talk', of: 'tenant', period: 'month' } as const;
  const used = { tokens: 1_234_567, microDollars: 1_234_500_000, minutes: 1059.123456 };
  const limit = { tokens: 2_000_000, microDollars: null, minutes: 1200.5 };
  const about = { percent: 80, then: 'end', resetAt: null, projectedAt: null } as const;
  const data = { tenantId: 'acme', account: 'tenant:acme', budget, used, limit, ...about };
  const { text } = alertMail(
    [{ type: 'budget.warned', timestamp: '2030-01-02T12:00:00.000Z', data }],
    'https://v.example',
  );
  expect(text).toContain('Used: 1,234,567 of 2,000,000 tokens');
  expect(text).toContain('Used: 1,059.123456 of 1,200.5 minutes of calls');
});
