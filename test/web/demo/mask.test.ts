import { describe, expect, test } from 'vitest';
import { mask } from '../../../src/web/demo/mask.ts';

describe('The demo’s log of the wire shows', () => {
  const masked = (value: string): string => mask(JSON.stringify({ client_secret: { value, expires_at: 7 } }, null, 2));

  test.each(['auth_tokens/3f0a', 'eyJhbGciOi.J9-_x', 'AAABBB=='])('no secret of a provider: %s', (value) => {
    expect(masked(value)).not.toContain(value);
    expect(JSON.parse(masked(value))).toEqual({ client_secret: { value: '••••', expires_at: 7 } });
  });

  test('the kind of a secret, if it is known', () => {
    expect(masked('ek_local_abc-_9')).toContain('"ek_local_••••"');
    expect(masked('ek_sb_abc')).toContain('"ek_••••"');
  });

  test('no resume token', () => {
    expect(mask(JSON.stringify({ resume: `rs_${'a-_9'.repeat(11).slice(1)}` }))).toBe('{"resume":"rs_••••"}');
  });

  test('the start of a session’s id', () => {
    expect(mask('s:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:kX2vQ9mB4tYw7nLcR1sZ0A')).toBe('s:7f3a…:••••');
  });
});
