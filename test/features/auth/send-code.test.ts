import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mailServer } from '../../../src/mail/variables.ts';
import type { ChallengeRecord } from '../../../machines/otp-challenge/types.ts';
import { createSubjects } from '../../../src/auth/subjects.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import type { Mailer } from '../../../src/mail/contract.ts';
import { DevMailbox } from '../../../src/mail/dev-mailbox.ts';
import { SmtpMailer } from '../../../src/mail/smtp.ts';
import { createPostgresChallenges } from '../../../src/stores/logins/postgres.ts';
import { holdDeadlines } from '../../support/deadlines.ts';
import { TestSmtp, type SmtpMode } from '../../support/smtp.ts';
import {
  HERE,
  HOUR,
  installationKey,
  loginCodes,
  MINUTE,
  SECOND,
  somebody,
  START,
  type TestLoginCodes,
} from './parts.ts';
import { TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let smtp: TestSmtp;
let mailer: Mailer;
let codes: TestLoginCodes;

beforeAll(async () => {
  database = await TestDatabase.open();
  smtp = await TestSmtp.start();
});

/** Longer than any machine keeps a test waiting: it expires by hand, or never. */
const PATIENT_MS = 61_000;

beforeEach(() => {
  const from = { name: 'Switchboard', address: 'no-reply@example.com' };
  mailer = new SmtpMailer({ server: mailServer.parse(smtp.url), from, timeoutMs: PATIENT_MS });
  codes = loginCodes(database, { mailer, newCode: nextCode });
});

afterEach(() => {
  mailer.close();
  smtp.mode = 'ok';
  smtp.onFreeze = () => {};
  database.isAway = false;
});

afterAll(async () => {
  await smtp.close();
  await database.close();
});

/** Sets the mail server's mode; while it is frozen, every deadline that waits for it expires at once. */
function setMail(mode: SmtpMode): void {
  smtp.onFreeze = holdDeadlines(PATIENT_MS);
  smtp.mode = mode;
}

function breakMail(mode: SmtpMode): void {
  setMail(mode);
  smtp.dropConnections();
}

let drawn = 0;

/** A new code each time, whereas random codes may repeat. */
function nextCode(): string {
  drawn += 1;
  return `${100_000 + drawn}`;
}

function codeIn(text: string | undefined): string {
  return /^ *(\d{6})$/m.exec(text ?? '')?.[1] ?? 'no code';
}

/** Sends a code and reads it from the mail that arrives. */
async function sendAndRead(email: string, atMs: number, node = codes): Promise<string> {
  expect(await node.send(email, atMs)).toEqual({ expiresInSec: 600 });
  const mail = smtp.mails.findLast(({ envelope }) => envelope.to.includes(email));
  return codeIn(mail?.parsed.text);
}

const refused = expect.objectContaining({ code: 'INVALID_OTP' });

describe('A code that is sent', () => {
  test('arrives by mail and logs in', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    expect(await codes.verify(email, code, START + MINUTE)).toBe(true);
  });

  test('works as soon as its mail has arrived, even before the mail server has confirmed it', async () => {
    const email = somebody();
    let verified: unknown;
    const eager: Mailer = {
      kind: 'dev',
      prepare: ({ text }) =>
        Promise.resolve({
          send: async () => {
            verified = await codes.verify(email, codeIn(text), START);
          },
          drop: () => {},
        }),
      ping: () => Promise.resolve(),
      aside: () => eager,
      close: () => {},
    };
    await loginCodes(database, { mailer: eager }).send(email, START);
    expect(verified).toBe(true);
  });

  test('is stored as a keyed hash only', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    const subject = createSubjects(installationKey).console(email);
    const rows = await database.run((sql) => sql`select * from otp_challenge where subject = ${subject}`);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(code);
    expect(JSON.stringify(rows)).not.toContain(email);
    expect(rows[0]?.['codeHash']).toMatch(/^[0-9a-f]{64}$/);
  });

  test('has another hash than the same code for somebody else', async () => {
    const same = loginCodes(database, { mailer: new DevMailbox(), newCode: () => '424242' });
    const emails = [somebody(), somebody()];
    const hashes = [];
    for (const email of emails) {
      await same.send(email, START);
      hashes.push((await newest(email))?.codeHash);
    }
    expect(new Set(hashes).size).toBe(2);
  });

  test('is replaced by the next: only the newest works', async () => {
    const email = somebody();
    const first = await sendAndRead(email, START);
    const second = await sendAndRead(email, START + MINUTE);
    expect(await codes.verify(email, first, START + MINUTE)).toEqual(refused);
    expect(await codes.verify(email, second, START + MINUTE)).toBe(true);
  });

  test('may start with zeros', async () => {
    const email = somebody();
    const zeros = loginCodes(database, { mailer, newCode: () => '000007' });
    expect(await sendAndRead(email, START, zeros)).toBe('000007');
    expect(await zeros.verify(email, '000007', START)).toBe(true);
  });
});

describe('Sends are limited', () => {
  test('to three an hour; the refusal says when to come back and leaves the live code valid', async () => {
    const email = somebody();
    await sendAndRead(email, START);
    await sendAndRead(email, START + 1);
    const code = await sendAndRead(email, START + 2);
    const refusal = await codes.send(email, START + 10 * SECOND);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', additions: { retryAfter: 3590 } });
    expect(await codes.verify(email, code, START + 11 * SECOND)).toBe(true);
    expect(await codes.send(email, START + HOUR - 1)).toMatchObject({ additions: { retryAfter: 1 } });
    expect(await codes.send(email, START + HOUR)).toEqual({ expiresInSec: 600 });
  });

  test('under any race: of 64 at once three go out', async () => {
    const email = somebody();
    const outbox = new DevMailbox();
    const racing = loginCodes(database, { mailer: outbox, newCode: nextCode });
    const answers = await Promise.all(Array.from({ length: 64 }, () => racing.send(email, START)));
    expect(answers.filter((answer) => !(answer instanceof Refusal))).toHaveLength(3);
    const sent = outbox.list().map(({ text }) => codeIn(text));
    expect(sent).toHaveLength(3);
    const verified = await Promise.all([...new Set(sent)].map((code) => racing.verify(email, code, START)));
    expect(verified.filter((answer) => answer === true)).toHaveLength(1);
  });

  test('for addresses that may not log in just as for others', async () => {
    const strangers = loginCodes(database, { mailer, admits: () => false });
    const email = somebody();
    for (let n = 0; n < 3; n += 1) expect(await strangers.send(email, START)).toEqual({ expiresInSec: 600 });
    expect(await strangers.send(email, START)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
  });
});

describe('An address that may not log in', () => {
  test('gets the same answer for the same work, and no mail', async () => {
    const known = somebody();
    const unknown = somebody();
    const outbox = new DevMailbox();
    const strict = loginCodes(database, { mailer: outbox, admits: (email) => email === known });
    const asked: number[][] = [];
    for (const email of [known, unknown]) {
      const counts: number[] = [];
      for (let n = 0; n < 4; n += 1) {
        const before = database.asked;
        const answer = await strict.send(email, START);
        counts.push(database.asked - before);
        expect(answer instanceof Refusal).toBe(n === 3);
      }
      asked.push(counts);
    }
    expect(asked[0]).toEqual(asked[1]);
    expect(new Set(outbox.list().map(({ to }) => to))).toEqual(new Set([known]));
  });

  test('cannot log in with any code, not even the one that it would have got', async () => {
    const email = somebody();
    const strict = loginCodes(database, { mailer: new DevMailbox(), admits: () => false, newCode: () => '424242' });
    await strict.send(email, START);
    expect(await strict.verify(email, '424242', START)).toEqual(refused);
    await strict.send(email, START);
    expect(await loginCodes(database, { mailer }).verify(email, '424242', START)).toEqual(refused);
  });

  test('cannot log in with a code from before it was removed from the list', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    const stricter = loginCodes(database, { mailer, admits: () => false });
    expect(await stricter.verify(email, code, START)).toEqual(refused);
  });

  test('is told like any other that mail is away', async () => {
    breakMail('drop');
    const strict = loginCodes(database, { mailer, admits: () => false });
    await expect(strict.send(somebody(), START)).rejects.toMatchObject({ dependency: 'mail' });
  });
});

describe('A mail server that is away', () => {
  test.each(['drop', 'freeze greeting'] as const)(
    '(%s) is reported, the send is not counted, and the former code stays valid',
    async (mode) => {
      const email = somebody();
      const code = await sendAndRead(email, START);
      breakMail(mode);
      const node = loginCodes(database, { mailer, newCode: nextCode });
      for (let n = 0; n < 4; n += 1)
        await expect(node.send(email, START + n)).rejects.toMatchObject({ name: 'Unavailable', dependency: 'mail' });
      smtp.mode = 'ok';
      expect(await codes.verify(email, code, START + MINUTE)).toBe(true);
      await sendAndRead(email, START + MINUTE);
      await sendAndRead(email, START + MINUTE);
      expect(await codes.send(email, START + MINUTE)).toBeInstanceOf(Refusal);
    },
  );

  test('leaves a code that does not work', async () => {
    const email = somebody();
    const failing = loginCodes(database, { mailer, newCode: () => '424242' });
    breakMail('drop');
    await expect(failing.send(email, START)).rejects.toThrow(Unavailable);
    expect(await failing.verify(email, '424242', START)).toEqual(refused);
  });

  test('keeps the attempts that were made on the former code', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    const wrong = '000000';
    for (let n = 0; n < 4; n += 1) expect(await codes.verify(email, wrong, START)).toEqual(refused);
    breakMail('drop');
    await expect(codes.send(email, START)).rejects.toThrow(Unavailable);
    expect(await codes.verify(email, wrong, START)).toEqual(refused);
    expect(await codes.verify(email, code, START)).toEqual(refused);
  });

  test('does not bring back a code that was replaced', async () => {
    const email = somebody();
    const first = await sendAndRead(email, START);
    const second = await sendAndRead(email, START);
    breakMail('drop');
    await expect(codes.send(email, START)).rejects.toThrow(Unavailable);
    expect(await codes.verify(email, first, START)).toEqual(refused);
    expect(await codes.verify(email, second, START)).toBe(true);
  });
});

describe('A mail that the server rejects', () => {
  const modes = ['reject recipient', 'deny relay', 'freeze data'] as const;

  test.each(modes)('(%s) is answered like one to an address that gets none', async (mode) => {
    const known = somebody();
    const strict = loginCodes(database, { mailer, admits: (email) => email === known });
    setMail(mode);
    for (const email of [known, somebody()]) {
      for (let n = 0; n < 3; n += 1) expect(await strict.send(email, START)).toEqual({ expiresInSec: 600 });
      expect(await strict.send(email, START)).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    }
  });

  test.each(modes)('(%s) leaves the former code valid, and is logged for the operator', async (mode) => {
    const email = somebody();
    const heard: unknown[] = [];
    const discreet = loginCodes(database, { mailer, onFault: (error) => heard.push(error) });
    const code = await sendAndRead(email, START);
    setMail(mode);
    expect(await discreet.send(email, START)).toEqual({ expiresInSec: 600 });
    const name = mode === 'reject recipient' ? 'MailRefused' : 'Unavailable';
    expect(heard).toEqual([expect.objectContaining({ name, dependency: 'mail' })]);
    expect(await discreet.verify(email, code, START)).toBe(true);
  });

  test('is not awaited: the answer comes before the server has been told the recipient', async () => {
    const known = somebody();
    const steps: string[] = [];
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Mailer = {
      kind: 'smtp',
      prepare: () => {
        steps.push('prepare');
        return Promise.resolve({ send: () => gate, drop: () => {} });
      },
      ping: () => Promise.resolve(),
      aside: () => slow,
      close: () => {},
    };
    const { codes: real } = loginCodes(database, { mailer: slow, admits: (email) => email === known });
    const traces: unknown[] = [];
    for (const email of [known, somebody()]) {
      steps.length = 0;
      const before = database.asked;
      expect(await real.send(email, { from: HERE }, START)).toEqual({ expiresInSec: 600 });
      traces.push([...steps, database.asked - before]);
    }
    expect(traces[0]).toEqual(traces[1]);
    release();
    await real.settled();
  });
});

describe('While the database is away', () => {
  test('no code is sent and none is verified', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    database.isAway = true;
    await expect(codes.send(email, START)).rejects.toMatchObject({ dependency: 'database' });
    await expect(codes.verify(email, code, START)).rejects.toMatchObject({ dependency: 'database' });
    database.isAway = false;
    expect(await codes.verify(email, code, START)).toBe(true);
  });

  test('a code that was stored without the database’s answer does not invalidate the former one', async () => {
    const email = somebody();
    const code = await sendAndRead(email, START);
    const real = createPostgresChallenges(database);
    const insert = async (record: ChallengeRecord): Promise<void> => {
      await real.insert(record);
      throw new Unavailable('database');
    };
    const unlucky = loginCodes(database, { mailer, challenges: { ...real, insert } });
    await expect(unlucky.send(email, START)).rejects.toMatchObject({ dependency: 'database' });
    await database.settled();
    expect(await codes.verify(email, code, START)).toBe(true);
  });

  test('the code still works if the mail was already on its way', async () => {
    const email = somebody();
    await sendAndRead(email, START);
    const outbox = new DevMailbox({
      onMail: () => {
        database.isAway = true;
      },
    });
    expect(await loginCodes(database, { mailer: outbox }).send(email, START)).toEqual({ expiresInSec: 600 });
    database.isAway = false;
    expect(await codes.verify(email, codeIn(outbox.list()[0]?.text), START)).toBe(true);
  });
});

function newest(email: string) {
  return createPostgresChallenges(database).newest(createSubjects(installationKey).console(email));
}
