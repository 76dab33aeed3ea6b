import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVICE_LIFE_MS } from '../../../src/auth/cookies.ts';
import type { LimitScope } from '../../../src/auth/send-code.ts';
import type { LoginCodesDeps } from '../../../src/auth/verify-code.ts';
import { rowKey } from '../../../src/auth/code-limits.ts';
import { createSubjects } from '../../../src/auth/subjects.ts';
import type { Mailer } from '../../../src/mail/contract.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { FOREVER_MS } from '../../../src/stores/counters/contract.ts';
import { createPostgresCounters } from '../../../src/stores/counters/postgres.ts';
import { DEVICE_UNTIL_MS, HOUR, installationKey, loginCodes, START, type TestLoginCodes } from './parts.ts';
import { TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await TestDatabase.open();
});

afterAll(() => database.close());

const right = '424242';
const wrong = '111111';
const DAY = 24 * HOUR;
/** The start of a day. */
const MIDNIGHT = START + 2 * HOUR;
const refused = expect.objectContaining({ code: 'INVALID_OTP' });

let made = 0;

/** A domain of the test's own, and a day far enough from those of other tests that no two share counts. */
function place(): { readonly domain: string; readonly day: number } {
  made += 1;
  return { domain: `ops${made}.example`, day: MIDNIGHT + made * 1000 * DAY };
}

interface World {
  readonly codes: TestLoginCodes;
  readonly mailed: string[];
  readonly spent: LimitScope[];
}

/** A node that admits one domain, with the default budgets. */
function world(domain: string, limits: Partial<LoginCodesDeps['limits']> = {}): World {
  const mailed: string[] = [];
  const spent: LimitScope[] = [];
  const mailer: Mailer = {
    kind: 'dev',
    prepare: ({ to }) => Promise.resolve({ send: async () => void mailed.push(to), drop: () => {} }),
    ping: () => Promise.resolve(),
    aside: () => mailer,
    close: () => {},
  };
  const codes = loginCodes(database, {
    mailer,
    newCode: () => right,
    admits: (email) => email.endsWith(domain),
    limits: { expiryMinutes: 10, perHour: 3, maxAttempts: 5, failuresPerDay: 100, newMailsPerHour: 60, ...limits },
    onSpent: (scope) => spent.push(scope),
  });
  return { codes, mailed, spent };
}

/** How many guesses at these addresses' codes were evaluated. */
async function evaluated(emails: readonly string[]): Promise<number> {
  const subjects = emails.map((email) => createSubjects(installationKey).console(email));
  const [row] = await database.run(
    (sql) => sql<{ n: number }[]>`
      select coalesce(sum(attempts), 0)::integer as n from otp_challenge where subject = any(${subjects}::text[])`,
  );
  return row?.n ?? 0;
}

/** A network address of a botnet. */
const network = (n: number): string => `203.0.${n >> 8}.${n & 255}`;

/** Logs in once, with a mail; a browser that does so has a device cookie from then on. */
async function logIn({ codes }: World, email: string, atMs: number, device?: string): Promise<void> {
  expect(await codes.send(email, atMs, 'home', device)).not.toBeInstanceOf(Refusal);
  expect(await codes.verify(email, right, atMs, 'home', device)).toBe(true);
}

/** Guesses wrong codes of an address over several hours, each five from another network, and asks for a new code each time. */
async function guess({ codes }: World, email: string, times: number, fromMs: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const atMs = fromMs + Math.floor(n / 15) * HOUR;
    if (n % 5 === 0) await codes.send(email, atMs, network(Math.floor(n / 5)));
    expect(await codes.verify(email, wrong, atMs, network(Math.floor(n / 5)))).toEqual(refused);
  }
}

/** As if this many wrong codes had been counted before, which would take as many mails and guesses. */
async function haveCounted(key: string, times: number, windowMs: number, atMs: number): Promise<void> {
  await createPostgresCounters(database).take(key, times, windowMs, atMs);
  await database.run((sql) => sql`update counter set count = ${times} where key = ${key}`);
}

/** As if this many wrong codes in a row had been tried at an address. */
const haveFailed = (email: string, times: number, atMs: number): Promise<void> =>
  haveCounted(rowKey(createSubjects(installationKey).console(email)), times, FOREVER_MS, atMs);

const haveFailedWith = (device: string, times: number): Promise<void> =>
  haveCounted(`otp-device:${device}`, times, DEVICE_LIFE_MS, DEVICE_UNTIL_MS);

describe('Guesses over invented addresses of a listed domain', () => {
  test('are stopped at the day’s budget, even with the right code, and the owner of a device cookie can still log in', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 10 });
    const owner = `owner@${domain}`;
    await logIn(here, owner, day, undefined);
    const invented = Array.from({ length: 12 }, (_, n) => `x${n}@${domain}`);
    for (const [n, email] of invented.entries()) {
      const atMs = day + Math.floor(n / 3) * HOUR;
      await here.codes.send(email, atMs, network(n));
      for (let m = 0; m < 5; m += 1) expect(await here.codes.verify(email, wrong, atMs, network(n))).toEqual(refused);
    }
    expect(await evaluated(invented)).toBe(10);
    expect(here.spent).toContain('guesses_domain');
    const late = `late@${domain}`;
    await here.codes.send(late, day + 5 * HOUR);
    expect(await here.codes.verify(late, right, day + 5 * HOUR)).toEqual(refused);
    await logIn(here, owner, day + 5 * HOUR, 'device of the owner');
    // The budget is per day.
    await here.codes.send(late, day + DAY);
    expect(await here.codes.verify(late, right, day + DAY)).toBe(true);
  });

  test('are stopped at five times that over all domains', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 2 });
    const emails = Array.from({ length: 8 }, (_, n) => `x@${n}.${domain}`);
    for (const email of emails) {
      await here.codes.send(email, day);
      for (let m = 0; m < 3; m += 1) expect(await here.codes.verify(email, wrong, day)).toEqual(refused);
    }
    expect(await evaluated(emails)).toBe(10);
    expect(here.spent.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'guesses_domain'));
    expect(here.spent.slice(5)).toEqual(Array.from({ length: 9 }, () => 'guesses_installation'));
  });

  test('are counted exactly over two nodes, however many come at once', async () => {
    const { domain, day } = place();
    const nodes = [world(domain, { failuresPerDay: 20 }), world(domain, { failuresPerDay: 20 })] as const;
    const emails = Array.from({ length: 12 }, (_, n) => `x${n}@${domain}`);
    for (const email of emails) await nodes[0].codes.send(email, day);
    await Promise.all(
      emails.flatMap((email) =>
        Array.from({ length: 5 }, (_, n) => nodes[n % 2 === 0 ? 0 : 1].codes.verify(email, wrong, day)),
      ),
    );
    expect(await evaluated(emails)).toBeLessThanOrEqual(20);
  });

  test('do not count for a domain from which nobody may log in', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 1 });
    for (let n = 0; n < 10; n += 1) {
      await here.codes.send(`x${n}@elsewhere${domain}.invalid`, day);
      await here.codes.verify(`x${n}@elsewhere${domain}.invalid`, wrong, day);
    }
    await here.codes.send(`ada@${domain}`, day);
    expect(await here.codes.verify(`ada@${domain}`, wrong, day)).toEqual(refused);
    expect(await here.codes.verify(`ada@${domain}`, right, day)).toEqual(refused);
    expect(here.spent).toEqual(['guesses_domain']);
  });

  test('do not count as failures if they are right', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 1 });
    for (let n = 0; n < 7; n += 1) await logIn(here, `x${n}@${domain}`, day);
    expect(here.spent).toEqual([]);
  });
});

describe('Mails to addresses with which nobody has logged in', () => {
  test('stop at the hour’s budget, with the same answer, and mails to all others go on', async () => {
    const { domain, day } = place();
    const here = world(domain, { newMailsPerHour: 3 });
    const known = `known@${domain}`;
    await logIn(here, known, day - HOUR);
    here.mailed.length = 0;
    const answers = [];
    for (let n = 0; n < 5; n += 1) answers.push(await here.codes.send(`x${n}@${domain}`, day, network(n)));
    for (const answer of answers) expect(answer).toEqual({ expiresInSec: 600 });
    expect(here.mailed).toEqual([0, 1, 2].map((n) => `x${n}@${domain}`));
    expect(here.spent).toEqual(['mails_domain', 'mails_domain']);
    // A code whose mail was not sent cannot be guessed either.
    expect(await here.codes.verify(`x4@${domain}`, right, day)).toEqual(refused);
    here.mailed.length = 0;
    await here.codes.send(known, day);
    await here.codes.send(`x4@${domain}`, day, 'home', 'device');
    await here.codes.send(`x5@${domain}`, day + HOUR);
    expect(here.mailed).toEqual([known, `x4@${domain}`, `x5@${domain}`]);
  });

  test('leave the former code valid if none is sent', async () => {
    const { domain, day } = place();
    const here = world(domain, { newMailsPerHour: 1 });
    const ada = `ada@${domain}`;
    await here.codes.send(ada, day, 'home');
    // Ada asks again, or a stranger asks in her place.
    expect(await here.codes.send(ada, day, network(1))).toEqual({ expiresInSec: 600 });
    expect(here.mailed).toEqual([ada]);
    expect(await here.codes.verify(ada, right, day, 'home')).toBe(true);
  });

  test('stop at five times that over all domains', async () => {
    const { domain, day } = place();
    const here = world(domain, { newMailsPerHour: 1 });
    for (let n = 0; n < 7; n += 1) await here.codes.send(`x@${n}.${domain}`, day);
    expect(here.mailed).toHaveLength(5);
    expect(here.spent).toEqual(['mails_installation', 'mails_installation']);
  });
});

describe('An address with which somebody has logged in', () => {
  test('accepts 100 wrong codes in a row, over any time, and then only browsers that have logged in before', async () => {
    const { domain, day } = place();
    const here = world(domain);
    const ada = `ada@${domain}`;
    await logIn(here, ada, day);
    await guess(here, ada, 50, day + HOUR);
    await guess(here, ada, 50, day + 400 * DAY);
    const atMs = day + 800 * DAY;
    here.mailed.length = 0;
    expect(await here.codes.send(ada, atMs)).toEqual({ expiresInSec: 600 });
    expect(here.mailed).toEqual([]);
    expect(await here.codes.verify(ada, right, atMs)).toEqual(refused);
    expect(await evaluated([ada])).toBe(101);
    await logIn(here, ada, atMs, 'device');
    // The login has ended the row of wrong codes.
    await logIn(here, ada, atMs + HOUR);
  });

  test('refuses the right code of a mail from before the hundredth wrong one', async () => {
    const { domain, day } = place();
    const here = world(domain);
    const ada = `ada@${domain}`;
    await logIn(here, ada, day);
    await haveFailed(ada, 98, day + HOUR);
    const atMs = day + 9 * HOUR;
    await here.codes.send(ada, atMs);
    for (const code of [wrong, wrong, right]) expect(await here.codes.verify(ada, code, atMs)).toEqual(refused);
    expect(here.spent).toEqual(['address']);
  });

  test('can be lifted by an operator for everybody, even if its domain’s budget is spent', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 5 });
    const [ada, bob] = [`ada@${domain}`, `bob@${domain}`];
    await logIn(here, ada, day);
    await haveFailed(ada, 95, day);
    await guess(here, ada, 5, day + HOUR);
    const atMs = day + 9 * HOUR;
    expect(await here.codes.codes.lift(ada, atMs)).toBe(100);
    await logIn(here, ada, atMs);
    await here.codes.send(bob, atMs);
    expect(await here.codes.verify(bob, right, atMs)).toEqual(refused);
    expect(await here.codes.codes.lift(bob, atMs)).toBe(0);
    await logIn(here, bob, atMs);
  });

  test('that was lifted accepts at most 100 wrong codes in a row as well', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 1 });
    const ada = `ada@${domain}`;
    await here.codes.codes.lift(ada, day);
    await haveFailed(ada, 95, day);
    await guess(here, ada, 10, day);
    expect(await evaluated([ada])).toBe(5);
  });

  test('is closed to nobody before its first login', async () => {
    const { domain, day } = place();
    const here = world(domain);
    const ada = `ada@${domain}`;
    await guess(here, ada, 5, day);
    await haveFailed(ada, 100, day);
    await guess(here, ada, 5, day + DAY);
    await logIn(here, ada, day + DAY + 5 * HOUR);
  });
});

describe('A browser with a device cookie', () => {
  test('cannot be kept from logging in by anything that strangers do', async () => {
    const { domain, day } = place();
    const here = world(domain);
    const ada = `ada@${domain}`;
    await logIn(here, ada, day);
    const atMs = day + HOUR;
    for (let n = 0; n < 3; n += 1) {
      expect(await here.codes.send(ada, atMs, 'home', 'device')).toEqual({ expiresInSec: 600 });
      // A stranger asks for a newer code, and makes all the guesses that it and the owner's code leave to strangers.
      expect(await here.codes.send(ada, atMs, network(n))).toEqual({ expiresInSec: 600 });
      for (let m = 0; m < 20; m += 1) await here.codes.verify(ada, wrong, atMs, network(m));
      expect(await here.codes.verify(ada, right, atMs, 'elsewhere', 'device')).toBe(true);
    }
    expect(await here.codes.send(ada, atMs, network(9))).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    expect(await here.codes.send(ada, atMs, 'home', 'device')).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  });

  test('may use the code that another browser requested, and the other way round', async () => {
    const { domain, day } = place();
    const here = world(domain);
    const ada = `ada@${domain}`;
    await here.codes.send(ada, day, 'home');
    expect(await here.codes.verify(ada, right, day, 'home', 'device')).toBe(true);
    await here.codes.send(ada, day, 'home', 'device');
    expect(await here.codes.verify(ada, right, day, 'home')).toBe(true);
  });

  test('has 100 wrong codes of its own, and is then treated like any other', async () => {
    const { domain, day } = place();
    const here = world(domain, { failuresPerDay: 1 });
    const [ada, device] = [`ada@${domain}`, `device of ${domain}`];
    await here.codes.send(ada, day);
    expect(await here.codes.verify(ada, wrong, day)).toEqual(refused);
    await haveFailedWith(device, 95);
    await here.codes.send(ada, day + HOUR, 'home', device);
    for (let n = 0; n < 5; n += 1)
      expect(await here.codes.verify(ada, wrong, day + HOUR, 'home', device)).toEqual(refused);
    expect(await evaluated([ada])).toBe(6);
    expect(here.spent).toEqual([]);
    const atMs = day + 12 * HOUR;
    await here.codes.send(ada, atMs, 'home', device);
    expect(await here.codes.verify(ada, right, atMs, 'home', device)).toEqual(refused);
    expect(here.spent).toEqual(['guesses_domain']);
    await here.codes.send(ada, atMs, 'home', 'another');
    expect(await here.codes.verify(ada, right, atMs, 'home', 'another')).toBe(true);
  });
});

test('A device cookie has its 100 wrong codes once in its life, whenever that starts', async () => {
  const { domain, day } = place();
  const here = world(domain);
  const ada = `ada@${domain}`;
  // Windows as long as the cookie's life would start in the middle of it.
  const middle = Math.ceil(day / DEVICE_LIFE_MS) * DEVICE_LIFE_MS;
  await haveFailedWith('stolen', 90);
  for (let n = 0; n < 20; n += 1) {
    const atMs = middle + (Math.floor(n / 10) - 1) * HOUR;
    if (n % 5 === 0) await here.codes.send(ada, atMs, 'home', 'stolen');
    expect(await here.codes.verify(ada, wrong, atMs, 'home', 'stolen')).toEqual(refused);
  }
  const used = await database.run(
    (sql) => sql<{ n: number }[]>`select sum(count)::integer as n from counter where key = 'otp-device:stolen'`,
  );
  expect(used).toEqual([{ n: 100 }]);
});

test('The time of an answer reveals nothing about budgets: each send and each guess takes the same number of queries', async () => {
  const { domain, day } = place();
  const here = world(domain, { failuresPerDay: 1, newMailsPerHour: 1 });
  const [known, fresh, closed] = [`known@${domain}`, `fresh@${domain}`, `closed@${domain}`];
  await logIn(here, known, day - DAY);
  await logIn(here, closed, day - 2 * DAY);
  await haveFailed(closed, 100, day);
  const questions: [number, number][] = [];
  // Addresses that are known, closed, new, new beyond both budgets, and not admitted.
  for (const email of [known, closed, fresh, `late@${domain}`, 'nobody@elsewhere.invalid']) {
    const atMs = day + 25 * HOUR;
    const start = database.asked;
    await here.codes.codes.send(email, { from: network(1) }, atMs);
    const sent = database.asked - start;
    await here.codes.codes.settled();
    const before = database.asked;
    expect(await here.codes.verify(email, wrong, atMs, network(1))).toEqual(refused);
    questions.push([sent, database.asked - before]);
  }
  for (const one of questions) expect(one).toEqual(questions[0]);
});
