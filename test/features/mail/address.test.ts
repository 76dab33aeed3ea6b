import { expect, test } from 'vitest';
import { isPlainAddress } from '../../../src/mail/message.ts';

test('A plain address may be as long as a path in SMTP, and no longer', () => {
  const domain = `${'d'.repeat(60)}.`.repeat(4);
  expect(isPlainAddress(`${'a'.repeat(253 - domain.length - 2)}@${domain}de`)).toBe(true);
  expect(isPlainAddress(`${'a'.repeat(255 - domain.length - 2)}@${domain}de`)).toBe(false);
});
