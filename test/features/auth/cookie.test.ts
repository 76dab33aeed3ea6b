import { describe, expect, test } from 'vitest';
import { clearedSessionCookie, readSessionCookie, sessionCookie } from '../../../src/auth/cookies.ts';

const atMs = 1_700_000_000_000;

describe('The console cookie', () => {
  const cookie = { token: 'a.b.c', expiresAtMs: atMs + 86_400_000, atMs, isSecure: false };

  test("has exactly the specification's attributes", () => {
    expect(sessionCookie(cookie)).toBe('tenant_session=a.b.c; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax');
  });

  test('is Secure under https', () => {
    expect(sessionCookie({ ...cookie, isSecure: true })).toBe(
      'tenant_session=a.b.c; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure',
    );
  });

  test('lives as long as the login', () => {
    expect(sessionCookie({ ...cookie, expiresAtMs: atMs + 7_200_000 })).toContain('; Max-Age=7200;');
    expect(sessionCookie({ ...cookie, expiresAtMs: atMs - 1 })).toContain('; Max-Age=0;');
  });

  test('is cleared with the attributes it was set with', () => {
    expect(clearedSessionCookie(false)).toBe('tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
    expect(clearedSessionCookie(true)).toBe('tenant_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure');
  });
});

describe('A Cookie header', () => {
  test.each([
    ['tenant_session=a.b.c', 'a.b.c'],
    ['theme=dark; tenant_session=a.b.c; lang=en', 'a.b.c'],
    ['theme=dark;tenant_session=a.b.c', 'a.b.c'],
    [' tenant_session=a.b.c ', 'a.b.c'],
    ['theme=dark;   tenant_session=a.b.c', 'a.b.c'],
    ['theme=tenant_session=x; tenant_session=a.b.c', 'a.b.c'],
    ['theme=a tenant_session=x; tenant_session=a.b.c', 'a.b.c'],
    ['tenant_session=a=b', 'a=b'],
    ['tenant_session; tenant_session=a.b.c', 'a.b.c'],
  ])('%j contains %j', (header, token) => {
    expect(readSessionCookie(header)).toBe(token);
  });

  test.each([
    [undefined],
    [''],
    ['theme=dark'],
    ['tenant_session'],
    ['tenant_session='],
    ['xtenant_session=a.b.c'],
    ['tenant_sessionx=a.b.c'],
    ['Tenant_Session=a.b.c'],
    ['theme=tenant_session=a.b.c'],
    ['theme=dark tenant_session=a.b.c'],
  ])('%j contains no token', (header) => {
    expect(readSessionCookie(header)).toBeUndefined();
  });

  test.each([
    ['tenant_session=planted; tenant_session=mine'],
    ['tenant_session=; tenant_session=mine'],
    ['tenant_session=mine;tenant_session='],
  ])('%j contains the name twice and counts as none, because one of the two may be planted', (header) => {
    expect(readSessionCookie(header)).toBeUndefined();
  });
});
