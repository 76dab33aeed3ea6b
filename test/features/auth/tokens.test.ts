import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import jwt from 'jsonwebtoken';
import { describe, expect, test } from 'vitest';
import { createTokens } from '../../../src/auth/tokens.ts';
import { examples } from '../../support/examples.ts';

const secret = 'correct horse battery staple, and then some';
const other = 'an older secret that is still good for checks';
const tokens = createTokens([secret]);
const at = 1_700_000_000_000;
const claims = { email: 'ada@example.com', loginId: 'auth_1', expiresAtMs: at + 86_400_000 };
const payload = {
  email: claims.email,
  sid: claims.loginId,
  iat: at / 1000,
  exp: claims.expiresAtMs / 1000,
  aud: 'switchboard-console',
  typ: 'console',
};

function encode(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** A token with any header and payload and a correct HS256 signature. */
function forge(header: object, body: unknown, key = secret): string {
  const text = `${encode(header)}.${encode(body)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

test('A token carries the address, the login, its times, an audience and a type, signed with HMAC SHA-256', async () => {
  const token = await tokens.sign(claims, at);
  expect(jwt.decode(token, { complete: true })).toMatchObject({ header: { alg: 'HS256', typ: 'JWT' }, payload });
  expect(await tokens.verify(token, at)).toEqual(claims);
});

test('A token is valid until its second has passed', async () => {
  const token = await tokens.sign({ ...claims, expiresAtMs: at + 1_500 }, at);
  expect(await tokens.verify(token, at + 1_999)).toBeDefined();
  expect(await tokens.verify(token, at + 2_000)).toBeUndefined();
});

test('The first secret signs and all verify, so that a secret can be replaced', async () => {
  const before = await createTokens([other]).sign(claims, at);
  const rotated = createTokens([secret, other]);
  const after = await rotated.sign(claims, at);
  expect(await rotated.verify(before, at)).toEqual(claims);
  expect(await tokens.verify(after, at)).toEqual(claims);
  expect(await tokens.verify(before, at)).toBeUndefined();
});

test('Once loaded, a token is checked without a promise', async () => {
  const token = await tokens.sign(claims, at);
  expect(tokens.verify(token, at)).toEqual(claims);
});

test('There are no tokens without a secret', () => {
  expect(() => createTokens([])).toThrow('at least one secret');
});

const hs256 = { alg: 'HS256', typ: 'JWT' };

test('A token made by hand is valid, so that each one below is refused for its own reason', async () => {
  expect(await tokens.verify(forge(hs256, payload), at)).toEqual(claims);
});

describe('A token is refused', () => {
  const without = (claim: keyof typeof payload) => forge(hs256, { ...payload, [claim]: undefined });
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

  test.each([
    ['that is signed with another secret', forge(hs256, payload, other)],
    ['that is not signed', `${encode({ alg: 'none', typ: 'JWT' })}.${encode(payload)}.`],
    ['that says none and is signed', forge({ alg: 'none', typ: 'JWT' }, payload)],
    ['that says HS512', jwt.sign(payload, secret, { algorithm: 'HS512' })],
    ['that says RS256', jwt.sign(payload, privateKey, { algorithm: 'RS256' })],
    ['that says RS256 over an HS256 signature', forge({ alg: 'RS256', typ: 'JWT' }, payload)],
    ['for another audience', forge(hs256, { ...payload, aud: 'somebody-else' })],
    ['for several audiences', forge(hs256, { ...payload, aud: ['switchboard-console', 'x'] })],
    ['of another type', forge(hs256, { ...payload, typ: 'widget' })],
    ['that has expired', forge(hs256, { ...payload, exp: at / 1000 })],
    ['that is not valid yet', forge(hs256, { ...payload, nbf: at / 1000 + 60 })],
    ['whose expiry is text', forge(hs256, { ...payload, exp: '9999999999' })],
    ['whose address is no text', forge(hs256, { ...payload, email: { $ne: '' } })],
    ['without an address', without('email')],
    ['without a login', without('sid')],
    ['without an issue time', without('iat')],
    ['without an expiry', without('exp')],
    ['without an audience', without('aud')],
    ['without a type', without('typ')],
    ['that holds text', forge(hs256, 'text')],
    ['that holds a list', forge(hs256, [payload])],
    ['that holds nothing', forge(hs256, null)],
    ['that is empty', ''],
    ['that is no token', 'a.b.c'],
    ['that is too long', forge(hs256, { ...payload, email: 'a'.repeat(3_000) })],
  ])('%s', async (_title, token) => {
    expect(await tokens.verify(token, at)).toBeUndefined();
  });

  test('after any change of one character', async () => {
    const token = await tokens.sign(claims, at);
    const place = fc.nat(token.length - 1);
    const character = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 });
    const holds = fc.property(place, character, (place, character) => {
      const changed = token.slice(0, place) + character + token.slice(place + 1);
      return changed === token || tokens.verify(changed, at) === undefined;
    });
    fc.assert(holds, examples(1_000));
  });

  test('if it is noise', async () => {
    await tokens.sign(claims, at);
    for (let n = 0; n < 200; n += 1) expect(tokens.verify(randomBytes(n).toString('latin1'), at)).toBeUndefined();
  });
});
