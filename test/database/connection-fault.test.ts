import { describe, expect, test } from 'vitest';
import { translateFault } from '../../src/database/faults.ts';
import { Unavailable } from '../../src/kernel/errors.ts';

describe('A fault of the database driver', () => {
  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'EPROTO',
  ])('of TLS (%s) means that the database is away', (code) => {
    expect(translateFault(Object.assign(new Error('refused'), { code }))).toBeInstanceOf(Unavailable);
  });

  test('of ours stays what it is', () => {
    const fault = new TypeError('x is not a function');
    expect(translateFault(fault)).toBe(fault);
  });
});
