import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loginPath, nextPath } from '../../../src/web/console/data/identity.ts';

describe('A user who has logged in', () => {
  beforeEach(() => {
    vi.stubGlobal('location', { origin: 'https://voice.example' });
  });

  afterEach(() => {
    vi.unstubAllGlobals();
  });

  test.each([
    '/console',
    '/console/sessions?state=idle,stale&tenantId=acme',
    '/console/sessions/s:0123456789abcdef?at=17',
  ])('goes to the requested page: %s', (wanted) => {
    expect(nextPath(wanted)).toBe(wanted);
    expect(nextPath(new URL(`https://voice.example${loginPath(wanted)}`).searchParams.get('next'))).toBe(wanted);
  });

  test.each([
    undefined,
    null,
    '',
    '//evil.example/console/',
    'https://evil.example/console/',
    'https://voice.example:444/console/',
    'javascript:alert(1)',
    '/console/../demo',
    '/\\evil.example',
    '/\t/evil.example/console/',
    '/demo',
    '/consolation',
    '/console/login',
    'https://[',
  ])('goes to the overview instead of %s', (wanted) => {
    expect(nextPath(wanted)).toBe('/console');
  });
});
