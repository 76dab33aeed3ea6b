import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCodeHash, drawCode } from '../../../src/auth/send-code.ts';
import type { LoginCodesDeps } from '../../../src/auth/verify-code.ts';
import { createSubjects } from '../../../src/auth/subjects.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { DevMailbox } from '../../../src/mail/dev-mailbox.ts';
import { createPostgresChallenges } from '../../../src/stores/logins/postgres.ts';
import { HOUR, installationKey, loginCodes, MINUTE, somebody, START, type TestLoginCodes } from './parts.ts';
import { TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await TestDatabase.open();
});

afterAll(() => database.close());

const right = '424242';
const wrong = '111111';

/** One node whose codes are all the same. */
function node(options: Partial<LoginCodesDeps> = {}): TestLoginCodes {
  return loginCodes(database, { mailer: new DevMailbox(), newCode: () => right, ...options });
}

async function record(email: string) {
  return createPostgresChallenges(database).newest(createSubjects(installationKey).console(email));
}

async function guess(codes: TestLoginCodes, email: string, times: number, atMs = START): Promise<void> {
  for (let n = 0; n < times; n += 1) expect(await codes.verify(email, wrong, atMs)).toBeInstanceOf(Refusal);
}

/** Puts an address into a state in which the right code must not (or no longer) work. */
const invalid: [
  title: string,
  prepare: (codes: TestLoginCodes, email: string) => Promise<unknown>,
  code?: string,
  atMs?: number,
][] = [
  ['never sent', () => Promise.resolve()],
  ['wrong', (codes, email) => codes.send(email, START), wrong],
  ['expired', (codes, email) => codes.send(email, START), right, START + 10 * MINUTE],
  ['consumed', async (codes, email) => [await codes.send(email, START), await codes.verify(email, right, START)]],
  ['locked', async (codes, email) => [await codes.send(email, START), await guess(codes, email, 5)]],
  [
    'superseded',
    async (codes, email) => [await codes.send(email, START), await node({ newCode: () => wrong }).send(email, START)],
  ],
];

describe('A code that does not work', () => {
  test('gets the same refusal whatever is wrong with it', async () => {
    const refusals = [];
    for (const [, prepare, code = right, atMs = START] of invalid) {
      const codes = node();
      const email = somebody();
      await prepare(codes, email);
      refusals.push(await codes.verify(email, code, atMs));
    }
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(Refusal);
      expect(refusal).toEqual(refusals[0]);
    }
    expect(refusals[0]).toMatchObject({ code: 'INVALID_OTP', status: 401 });
  });

  test('takes the same number of queries whatever is wrong with it', async () => {
    const questions: number[] = [];
    for (const [, prepare, code = right, atMs = START] of invalid) {
      const codes = node();
      const email = somebody();
      await prepare(codes, email);
      const before = database.asked;
      await codes.verify(email, code, atMs);
      questions.push(database.asked - before);
    }
    expect(new Set(questions).size).toBe(1);
  });

  test('of another address does not work here', async () => {
    const codes = node();
    const [ada, bob] = [somebody(), somebody()];
    await codes.send(ada, START);
    expect(await codes.verify(bob, right, START)).toBeInstanceOf(Refusal);
    expect(await codes.verify(ada, right, START)).toBe(true);
  });
});

describe('Attempts', () => {
  test('are five per code, and the fifth may be the right one', async () => {
    const codes = node();
    const email = somebody();
    await codes.send(email, START);
    await guess(codes, email, 4);
    expect(await codes.verify(email, right, START)).toBe(true);
    expect(await record(email)).toMatchObject({ attempts: 5, outcome: 'verified' });
  });

  test('lock the code after the fifth, even against the right code', async () => {
    const codes = node();
    const email = somebody();
    await codes.send(email, START);
    await guess(codes, email, 5);
    expect(await record(email)).toMatchObject({ attempts: 5, outcome: 'locked' });
    expect(await codes.verify(email, right, START)).toBeInstanceOf(Refusal);
    await codes.send(email, START);
    expect(await codes.verify(email, right, START)).toBe(true);
  });

  test('are counted per address across codes and hours: fifteen an hour', async () => {
    const codes = node();
    const email = somebody();
    const nextHour = START + HOUR;
    await codes.send(email, nextHour - MINUTE);
    await guess(codes, email, 4, nextHour);
    for (let n = 0; n < 2; n += 1) {
      await codes.send(email, nextHour);
      await guess(codes, email, 5, nextHour);
    }
    await codes.send(email, nextHour);
    await guess(codes, email, 1, nextHour);
    expect(await codes.verify(email, right, nextHour)).toBeInstanceOf(Refusal);
    expect(await record(email)).toMatchObject({ attempts: 1, outcome: null });
  });

  test('at an address without a live code do not lock its owner out', async () => {
    const codes = node();
    const email = somebody();
    await guess(codes, email, 20);
    await codes.send(email, START);
    expect(await codes.verify(email, right, START)).toBe(true);
  });
});

describe('A stranger who knows an address', () => {
  const stranger = '198.51.100.7';
  /** The start of a day. */
  const MIDNIGHT = START + 2 * HOUR;

  test('cannot use up the hour’s guesses with more guesses at once than are evaluated', async () => {
    const codes = node();
    const email = somebody();
    for (let n = 0; n < 3; n += 1) {
      await codes.send(email, START);
      const guesses = Array.from({ length: 20 }, () => codes.verify(email, wrong, START));
      expect((await Promise.all(guesses)).every((answer) => answer instanceof Refusal)).toBe(true);
      expect(await record(email)).toMatchObject({ attempts: 5, outcome: 'locked' });
    }
  });

  test('cannot lock a code that its owner requested', async () => {
    const codes = node();
    const email = somebody();
    await codes.send(email, START);
    for (let n = 0; n < 20; n += 1) expect(await codes.verify(email, wrong, START, stranger)).toBeInstanceOf(Refusal);
    expect(await codes.verify(email, right, START, stranger)).toBeInstanceOf(Refusal);
    await guess(codes, email, 1);
    expect(await codes.verify(email, right, START)).toBe(true);
  });

  test('is refused alike, with the same number of queries, whether guesses are evaluated or reserved for the owner', async () => {
    const codes = node();
    const email = somebody();
    await codes.send(email, START);
    const answers = [];
    for (let n = 0; n < 5; n += 1) {
      const before = database.asked;
      answers.push([await codes.verify(email, wrong, START, stranger), database.asked - before]);
    }
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test('who requests all its codes hour after hour soon leaves the owner one an hour, with guesses of its own', async () => {
    const codes = node();
    const email = somebody();
    const ask = (atMs: number, from?: string) => codes.send(email, atMs, from);
    for (let hour = 0; hour < 2; hour += 1) {
      for (let n = 0; n < 3; n += 1) expect(await ask(MIDNIGHT + hour * HOUR, stranger)).not.toBeInstanceOf(Refusal);
      expect(await ask(MIDNIGHT + hour * HOUR)).toBeInstanceOf(Refusal);
    }
    for (let hour = 2; hour < 6; hour += 1) {
      const atMs = MIDNIGHT + hour * HOUR;
      // The stranger can get no more than these two codes.
      for (let n = 0; n < 2; n += 1) {
        expect(await ask(atMs, stranger)).not.toBeInstanceOf(Refusal);
        for (let m = 0; m < 9; m += 1) await codes.verify(email, wrong, atMs, stranger);
      }
      expect(await ask(atMs, stranger)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
      expect(await ask(atMs)).not.toBeInstanceOf(Refusal);
      for (let m = 0; m < 9; m += 1) await codes.verify(email, wrong, atMs, stranger);
      await guess(codes, email, 1, atMs);
      expect(await codes.verify(email, right, atMs)).toBe(true);
    }
  });

  test('learns nothing about who may log in from how many codes are left', async () => {
    const known = somebody();
    const codes = node({ admits: (email) => email === known });
    const traces: unknown[] = [];
    for (const email of [known, somebody()]) {
      const trace: unknown[] = [];
      for (let hour = 0; hour < 4; hour += 1)
        for (let n = 0; n < 4; n += 1) trace.push(await codes.send(email, MIDNIGHT + hour * HOUR, stranger));
      traces.push(trace);
    }
    expect(traces[0]).toEqual(traces[1]);
  });
});

describe('Under a race of 64 verifications on two nodes', () => {
  /** Verifies 64 codes at once; `codeOf` gives the n-th code. */
  async function race(email: string, codeOf: (n: number) => string): Promise<(true | Refusal)[]> {
    const nodes = [node(), node()] as const;
    return Promise.all(
      Array.from({ length: 64 }, (_, n) => nodes[n % 2 === 0 ? 0 : 1].verify(email, codeOf(n), START)),
    );
  }

  test('the right code works once', async () => {
    const email = somebody();
    await node().send(email, START);
    const answers = await race(email, () => right);
    expect(answers.filter((answer) => answer === true)).toHaveLength(1);
    expect(await record(email)).toMatchObject({ attempts: 1, outcome: 'verified' });
  });

  test('wrong codes are evaluated five times', async () => {
    const email = somebody();
    await node().send(email, START);
    const answers = await race(email, () => wrong);
    expect(answers.every((answer) => answer instanceof Refusal)).toBe(true);
    expect(await record(email)).toMatchObject({ attempts: 5, outcome: 'locked' });
  });

  test.each([2, 3, 5, 8])(
    'a right code among wrong ones (each %dth) works at most once in five evaluations',
    async (each) => {
      const email = somebody();
      await node().send(email, START);
      const answers = await race(email, (n) => (n % each === each - 1 ? right : wrong));
      const successes = answers.filter((answer) => answer === true).length;
      const { attempts, outcome } = (await record(email)) ?? {};
      expect(successes).toBe(outcome === 'verified' ? 1 : 0);
      expect(outcome).toMatch(/^(verified|locked)$/);
      expect(attempts).toBeLessThanOrEqual(5);
    },
  );

  test('with a new code at the same time, each code works at most once', async () => {
    const email = somebody();
    await node().send(email, START);
    const [answers] = await Promise.all([race(email, () => right), node().send(email, START)]);
    expect(answers.filter((answer) => answer === true).length).toBeLessThanOrEqual(2);
    const rows = await database.run(
      (sql) => sql`
        select outcome from otp_challenge
        where subject = ${createSubjects(installationKey).console(email)} and outcome = 'verified'`,
    );
    expect(answers.filter((answer) => answer === true)).toHaveLength(rows.length);
  });
});

describe('A code', () => {
  test('has six digits, and every first digit is equally frequent', () => {
    const first = Array.from({ length: 10 }, () => 0);
    const draws = 20_000;
    const codes = Array.from({ length: draws }, drawCode);
    expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([]);
    for (const code of codes) {
      const digit = Number(code[0]);
      first[digit] = (first[digit] ?? 0) + 1;
    }
    // Chi-squared with 9 degrees of freedom: above 40 by chance once in 100,000 runs.
    const expected = draws / 10;
    expect(first.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)).toBeLessThan(40);
  });

  test('has a hash that depends on the installation, the challenge and the code', () => {
    const hash = createCodeHash(Buffer.alloc(32, 1));
    const hashes = [
      hash('a', right),
      hash('b', right),
      hash('a', wrong),
      createCodeHash(Buffer.alloc(32, 2))('a', right),
    ];
    expect(new Set(hashes).size).toBe(4);
    expect(hash('a', right)).toBe(hashes[0]);
  });
});
