import jwt from 'jsonwebtoken';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createTokens } from '../../../src/auth/tokens.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { createInProcessBus } from '../../../src/stores/in-process.ts';
import { createPostgresLogins } from '../../../src/stores/logins/postgres.ts';
import { createPostgresRetention } from '../../../src/stores/retention/postgres.ts';
import { consoleLogins, HOUR, MINUTE, secret, SECOND, somebody, START, type TrustingLogins } from './parts.ts';
import { TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await TestDatabase.open();
});

afterEach(() => {
  database.isAway = false;
});

afterAll(() => database.close());

/** The login's row in the database. */
function row(id: string) {
  return createPostgresLogins(database).load(id);
}

/** Two nodes on one database, which hear each other unless the bus is cut. */
function twoNodes({ isBusCut = false } = {}): [TrustingLogins, TrustingLogins] {
  const bus = createInProcessBus();
  return [consoleLogins(database, { bus }), consoleLogins(database, { bus: isBusCut ? createInProcessBus() : bus })];
}

describe('A login', () => {
  test('is opened for 24 hours, with an id that starts with auth_', async () => {
    const email = somebody();
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(email, START);
    expect(login).toEqual({ id: expect.stringMatching(/^auth_[\w-]{22}$/), email, expiresAtMs: START + 24 * HOUR });
    expect(await sessions.authenticate(token, START)).toEqual({ login });
    expect(await row(login.id)).toMatchObject({ email, createdAtMs: START, destroyedAtMs: null });
  });

  test('is valid on a node that has never seen it', async () => {
    const [a, b] = twoNodes();
    const { login, token } = await a.open(somebody(), START);
    expect(await b.authenticate(token, START + SECOND)).toEqual({ login });
  });

  test('is checked without a promise and without the database if its row was seen lately', async () => {
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(somebody(), START);
    const { asked } = database;
    for (let ms = 0; ms < 2_500; ms += 100) expect(sessions.authenticate(token, START + ms)).toEqual({ login });
    expect(database.asked).toBe(asked);
  });

  test('of a user who may no longer log in is over', async () => {
    const email = somebody();
    const { token } = await consoleLogins(database).open(email, START);
    const stricter = consoleLogins(database, { admits: (other) => other !== email });
    expect(await stricter.authenticate(token, START)).toBeUndefined();
  });

  test('whose row is gone is over', async () => {
    const [a, b] = twoNodes();
    const { token } = await a.open(somebody(), START - 48 * HOUR);
    await createPostgresRetention(database).deleteSome('logins', START - 23 * HOUR);
    expect(await b.authenticate(token, START - 47 * HOUR)).toBeUndefined();
    expect(await a.authenticate(token, START - 47 * HOUR)).toBeUndefined();
  });
});

describe('A token', () => {
  test('that names the login of another e-mail address is refused', async () => {
    const sessions = consoleLogins(database);
    const [mallory, victim] = [await sessions.open(somebody(), START), await sessions.open(somebody(), START)];
    const { email, id: loginId, expiresAtMs } = mallory.login;
    const tokens = createTokens([secret]);
    const forged = await tokens.sign({ email: victim.login.email, loginId, expiresAtMs }, START);
    expect(await sessions.authenticate(forged, START)).toBeUndefined();
    const unknown = await tokens.sign({ email, loginId: 'auth_unknown', expiresAtMs }, START);
    expect(await sessions.authenticate(unknown, START)).toBeUndefined();
  });

  test('that is tampered with is refused without asking the database', async () => {
    const sessions = consoleLogins(database);
    const { token } = await sessions.open(somebody(), START);
    const { asked } = database;
    expect(await sessions.authenticate(`${token}x`, START)).toBeUndefined();
    expect(await sessions.authenticate('', START)).toBeUndefined();
    expect(database.asked).toBe(asked);
  });

  test('is valid if its secret is no longer the first, but not if it is gone', async () => {
    const { login, token } = await consoleLogins(database).open(somebody(), START);
    const next = 'the secret of the next year, just as long';
    const rotated = consoleLogins(database, { tokens: createTokens([next, secret]) });
    expect(await rotated.authenticate(token, START)).toEqual({ login });
    const after = consoleLogins(database, { tokens: createTokens([next]) });
    expect(await after.authenticate(token, START)).toBeUndefined();
  });

  test('expires with the login to the millisecond, on nodes that know it and on others', async () => {
    const [a, b] = twoNodes();
    const { login, token } = await a.open(somebody(), START + 1);
    const end = login.expiresAtMs;
    expect((await b.authenticate(token, START + 1))?.login).toEqual(login);
    expect(await a.authenticate(token, end)).toBeUndefined();
    expect(await b.authenticate(token, end)).toBeUndefined();
    expect(await consoleLogins(database).authenticate(token, end)).toBeUndefined();
  });
});

describe('Activity', () => {
  test('extends the login once a minute and returns a token that is valid as long', async () => {
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(somebody(), START);
    expect(await sessions.authenticate(token, START + MINUTE - 1)).toEqual({ login });
    const renewed = await sessions.authenticate(token, START + MINUTE);
    const expiresAtMs = START + MINUTE + 24 * HOUR;
    expect(renewed).toEqual({ login: { ...login, expiresAtMs }, renewedToken: expect.any(String) });
    expect(jwt.decode(renewed?.renewedToken ?? '')).toMatchObject({ exp: expiresAtMs / 1000, sid: login.id });
    expect(await row(login.id)).toMatchObject({ expiresAtMs, version: 2 });
    expect(await sessions.authenticate(token, START + MINUTE + 1)).toEqual({ login: { ...login, expiresAtMs } });
  });

  test('does not keep a login alive beyond its absolute limit', async () => {
    const sessions = consoleLogins(database, { absoluteHours: 30 });
    const { token } = await sessions.open(somebody(), START);
    const found = await sessions.authenticate(token, START + 20 * HOUR);
    expect(found?.login.expiresAtMs).toBe(START + 30 * HOUR);
    const last = found?.renewedToken ?? 'none';
    expect(await sessions.authenticate(last, START + 30 * HOUR - 1)).toEqual({ login: found?.login });
    expect(await sessions.authenticate(last, START + 30 * HOUR)).toBeUndefined();
  });

  test('in 64 requests at once on two nodes renews once', async () => {
    const nodes = twoNodes();
    const { login, token } = await nodes[0].open(somebody(), START);
    await nodes[1].authenticate(token, START);
    const requests = Array.from({ length: 64 }, async (_, n) =>
      nodes[n % 2 === 0 ? 0 : 1].authenticate(token, START + MINUTE + n),
    );
    const answers = await Promise.all(requests);
    expect(answers.every((answer) => answer?.login.id === login.id)).toBe(true);
    expect(answers.filter((answer) => answer?.renewedToken !== undefined)).toHaveLength(1);
    expect((await row(login.id))?.version).toBe(2);
  });

  test('that another node has already recorded returns no second token', async () => {
    const [a, b] = twoNodes({ isBusCut: true });
    const { token } = await a.open(somebody(), START);
    await b.authenticate(token, START + MINUTE - SECOND);
    expect((await a.authenticate(token, START + MINUTE))?.renewedToken).toBeDefined();
    const found = await b.authenticate(token, START + MINUTE + 1);
    expect(found).toEqual({ login: expect.objectContaining({ expiresAtMs: START + MINUTE + 24 * HOUR }) });
  });
});

describe('A login that ends', () => {
  test('is over at once on every node, and its row says when and why it ended', async () => {
    const [a, b] = twoNodes();
    const { login, token } = await a.open(somebody(), START);
    await b.authenticate(token, START);
    const end = await b.destroy(login.id, 'logout', START + 5);
    expect(end).toMatchObject({ destroyedAtMs: START + 5, destroyReason: 'logout' });
    expect(await row(login.id)).toEqual(end);
    expect(await a.authenticate(token, START + 6)).toBeUndefined();
    expect(await b.authenticate(token, START + 6)).toBeUndefined();
    const { asked } = database;
    expect(a.authenticate(token, START + HOUR)).toBeUndefined();
    expect(database.asked).toBe(asked);
  });

  test('ends once, with the first reason, however many requests end it', async () => {
    const nodes = twoNodes();
    const { login } = await nodes[0].open(somebody(), START);
    const reasons = ['logout', 'revoked', 'violation', 'replaced'] as const;
    const ends = await Promise.all(
      reasons.map((reason, n) => nodes[n % 2 === 0 ? 0 : 1].destroy(login.id, reason, START + n)),
    );
    expect(new Set(ends.map((end) => `${end?.destroyReason} ${end?.destroyedAtMs} ${end?.version}`)).size).toBe(1);
  });

  test('and is unknown has no effect', async () => {
    expect(await consoleLogins(database).destroy('auth_unknown', 'revoked', START)).toBeUndefined();
  });

  test('does not touch the other logins of the same address', async () => {
    const sessions = consoleLogins(database);
    const email = somebody();
    const [phone, laptop] = [await sessions.open(email, START), await sessions.open(email, START)];
    await sessions.destroy(phone.login.id, 'logout', START);
    expect(await sessions.authenticate(laptop.token, START)).toEqual({ login: laptop.login });
  });

  test('is over within five seconds if the bus is cut, even for a user who comes back after an hour', async () => {
    const [a, b] = twoNodes({ isBusCut: true });
    const [busy, quiet] = [await a.open(somebody(), START), await a.open(somebody(), START)];
    for (const { token } of [busy, quiet]) await b.authenticate(token, START);
    for (const { login } of [busy, quiet]) await a.destroy(login.id, 'revoked', START + 1);
    expect(b.authenticate(busy.token, START + 2_400)).toBeDefined();
    expect(await b.authenticate(busy.token, START + 5_000)).toBeUndefined();
    expect(await b.authenticate(quiet.token, START + HOUR)).toBeUndefined();
  });

  test('is found to be over in the background, so that no request waits for a known row', async () => {
    const [a, b] = twoNodes({ isBusCut: true });
    const { login, token } = await a.open(somebody(), START);
    await b.authenticate(token, START);
    await a.destroy(login.id, 'revoked', START + 1);
    expect(b.authenticate(token, START + 2_500)).toEqual({ login });
    await database.settled();
    expect(b.authenticate(token, START + 2_501)).toBeUndefined();
  });

  test('is not brought back by a row that was read before the end', async () => {
    const [a, b] = twoNodes();
    const { login, token } = await a.open(somebody(), START);
    const release = database.holdNextAnswer();
    const early = b.authenticate(token, START);
    await a.destroy(login.id, 'revoked', START + 1);
    release();
    expect(await early).toBeUndefined();
    expect(await b.authenticate(token, START + 2)).toBeUndefined();
  });

  test('is not brought back by its own renewal', async () => {
    const [a, b] = twoNodes();
    const { login, token } = await a.open(somebody(), START);
    await b.authenticate(token, START + MINUTE - 1);
    const release = database.holdNextAnswer();
    const renewal = b.authenticate(token, START + MINUTE);
    await a.destroy(login.id, 'revoked', START + MINUTE);
    release();
    expect(await renewal).toBeUndefined();
    expect(await b.authenticate(token, START + MINUTE + 1)).toBeUndefined();
  });

  test('is over even if the clock was set back meanwhile', async () => {
    const [a, b] = twoNodes({ isBusCut: true });
    const { login, token } = await a.open(somebody(), START);
    await b.authenticate(token, START + HOUR);
    await a.destroy(login.id, 'revoked', START + HOUR);
    expect(await b.authenticate(token, START + MINUTE)).toBeUndefined();
  });
});

describe('While the database is away', () => {
  test('a login that the node knows stays valid without renewal, and is renewed once the database is back', async () => {
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(somebody(), START);
    database.isAway = true;
    expect(await sessions.authenticate(token, START + MINUTE)).toEqual({ login });
    for (let minutes = 2; minutes < 60; minutes += 1)
      expect(await sessions.authenticate(token, START + minutes * MINUTE)).toEqual({ login });
    await database.settled();
    database.isAway = false;
    await sessions.authenticate(token, START + HOUR);
    await database.settled();
    const found = await sessions.authenticate(token, START + HOUR + 1);
    expect(found?.renewedToken).toBeDefined();
  });

  test('a login that the node knows is checked without waiting, and its row is read at most once a second', async () => {
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(somebody(), START);
    database.isAway = true;
    await sessions.authenticate(token, START + 10 * SECOND);
    const { asked } = database;
    for (let ms = 0; ms < 10_000; ms += 10) {
      expect(sessions.authenticate(token, START + 10 * SECOND + ms)).toEqual({ login });
      await Promise.resolve();
    }
    expect(database.asked - asked).toBeLessThanOrEqual(10);
  });

  test('a login that the node knows is over at its own expiry', async () => {
    const sessions = consoleLogins(database);
    const { token } = await sessions.open(somebody(), START);
    database.isAway = true;
    expect(await sessions.authenticate(token, START + 24 * HOUR - 1)).toBeDefined();
    expect(await sessions.authenticate(token, START + 24 * HOUR)).toBeUndefined();
  });

  test('a login that only another node extended is not over at its former expiry, but told that the database is away', async () => {
    const [a, b] = twoNodes({ isBusCut: true });
    const { token } = await a.open(somebody(), START);
    await b.authenticate(token, START);
    const renewed = await a.authenticate(token, START + 20 * HOUR);
    database.isAway = true;
    await expect(b.authenticate(renewed?.renewedToken ?? 'none', START + 24 * HOUR)).rejects.toThrow(Unavailable);
  });

  test('a token that cannot be checked is not refused, but told that the database is away', async () => {
    const { login, token } = await consoleLogins(database).open(somebody(), START);
    const sessions = consoleLogins(database);
    database.isAway = true;
    await expect(sessions.authenticate(token, START)).rejects.toThrow(Unavailable);
    expect(await sessions.authenticate(`${token}x`, START)).toBeUndefined();
    database.isAway = false;
    expect(await sessions.authenticate(token, START)).toEqual({ login });
  });

  test('nobody can log in or out, and a login that could not be ended stays valid', async () => {
    const sessions = consoleLogins(database);
    const { login, token } = await sessions.open(somebody(), START);
    database.isAway = true;
    await expect(sessions.open(somebody(), START)).rejects.toThrow(Unavailable);
    await expect(sessions.destroy(login.id, 'logout', START)).rejects.toThrow(Unavailable);
    expect(await sessions.authenticate(token, START)).toEqual({ login });
  });
});

test('A node that was closed no longer listens to the others', async () => {
  const bus = createInProcessBus();
  const sessions = consoleLogins(database, { bus });
  const { login, token } = await sessions.open(somebody(), START);
  sessions.close();
  const { asked } = database;
  bus.publish({ type: 'login.changed', loginId: login.id });
  expect(sessions.authenticate(token, START)).toEqual({ login });
  expect(database.asked).toBe(asked);
});
