import { afterEach, describe, expect, test } from 'vitest';
import { mailSender, mailServer } from '../../../src/mail/variables.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { MailRefused, type Mail } from '../../../src/mail/contract.ts';
import { SmtpMailer } from '../../../src/mail/smtp.ts';
import { holdDeadlines } from '../../support/deadlines.ts';
import { TestSmtp } from '../../support/smtp.ts';
import type { SmtpOptions } from '../../support/smtp.ts';

const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Plain words', html: '<p>Words</p>' };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function server(options: SmtpOptions = {}): Promise<TestSmtp> {
  const smtp = await TestSmtp.start(options);
  cleanups.push(() => smtp.close());
  return smtp;
}

/** Longer than any machine keeps a test waiting: it expires by hand, or never. */
const PATIENT_MS = 61_000;
/** The default deadline for a mail server. */
const DEFAULT_MS = 4_000;

function mailer(url: string, timeoutMs = PATIENT_MS) {
  const from = mailSender.parse('Switchboard <no-reply@example.org>');
  const made = new SmtpMailer({ server: mailServer.parse(url), from, timeoutMs });
  cleanups.push(() => made.close());
  return {
    prepare: () => made.prepare(mail),
    send: async (sent: Mail) => (await made.prepare(sent)).send(),
    drop: async () => (await made.prepare(mail)).drop(),
    ping: () => made.ping(),
    close: () => made.close(),
  };
}

describe('A mail that is sent', () => {
  test('arrives with its sender, subject, plain text and HTML', async () => {
    const smtp = await server();
    await mailer(smtp.url).send(mail);
    const { envelope, parsed } = await smtp.nextMail();
    expect(envelope).toEqual({ from: 'no-reply@example.org', to: ['ada@example.com'] });
    expect(parsed.from).toMatchObject({ name: 'Switchboard', address: 'no-reply@example.org' });
    expect(parsed).toMatchObject({ subject: 'Hello', text: 'Plain words\n', html: '<p>Words</p>\n' });
  });

  test('says that a machine sent it, under a message id of the sender domain', async () => {
    const smtp = await server();
    await mailer(smtp.url).send(mail);
    const { parsed, raw } = await smtp.nextMail();
    expect(parsed.messageId).toMatch(/^<[0-9a-f-]{36}@example\.org>$/);
    expect(raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(raw).not.toMatch(/nodemailer|X-Mailer/i);
  });

  test.each([
    'a@example.com\r\nBcc: b@evil.example',
    'a@example.com <b@evil.example>',
    'a@example.com, b@evil.example',
    '"a b"@example.com',
    'a@example.com\n',
    'ä@example.com',
    `${'a'.repeat(250)}@example.com`,
    '',
  ])('never leaves for anything but one plain address: %j', async (to) => {
    const smtp = await server();
    await expect(mailer(smtp.url).send({ ...mail, to })).rejects.toThrow(TypeError);
    expect(smtp.connections).toBe(0);
  });

  test('cannot gain a header or a recipient through its subject', async () => {
    const smtp = await server();
    await mailer(smtp.url).send({ ...mail, subject: 'Hi\r\nBcc: b@evil.example\r\n\r\nbody' });
    const { envelope, parsed } = await smtp.nextMail();
    expect(envelope.to).toEqual(['ada@example.com']);
    expect(parsed.bcc ?? []).toEqual([]);
    expect(parsed.subject).toBe('Hi Bcc: b@evil.example body');
  });

  test('shares a connection with the mails after it', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    await sender.send(mail);
    await sender.send(mail);
    expect(smtp.mails).toHaveLength(2);
    expect(smtp.connections).toBe(1);
  });

  test('waits its turn when many are sent at once, over few connections', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    await Promise.all(Array.from({ length: 30 }, () => sender.send(mail)));
    expect(smtp.mails).toHaveLength(30);
    expect(smtp.connections).toBeLessThanOrEqual(5);
  });
});

describe('A login at the mail server', () => {
  const credentials = { user: 'us@er', pass: 'p:a/s%s' };
  const login = 'us%40er:p%3Aa%2Fs%25s';

  test('never waits for mails that are sent aside, which have one connection of their own', async () => {
    const smtp = await server();
    const from = mailSender.parse('Switchboard <no-reply@example.org>');
    const codes = new SmtpMailer({ server: mailServer.parse(smtp.url), from, timeoutMs: PATIENT_MS });
    const aside = codes.aside();
    cleanups.push(() => [codes, aside].forEach((one) => one.close()));
    const first = await aside.prepare(mail);
    const second = aside.prepare(mail);
    const held = await Promise.all(Array.from({ length: 5 }, () => codes.prepare(mail)));
    expect(smtp.connections).toBe(6);
    await first.send();
    await (await second).send();
    for (const one of held) await one.send();
    expect([smtp.mails.length, smtp.connections]).toEqual([7, 6]);
  });

  test('uses the percent-decoded credentials, over STARTTLS where it is offered', async () => {
    const smtp = await server({ credentials, startTls: true });
    await mailer(`smtp://${login}@127.0.0.1:${smtp.port}`).send(mail);
    expect(smtp.logins).toEqual([{ ...credentials, encrypted: true }]);
    expect(smtp.mails).toHaveLength(1);
  });

  test('works over TLS from the first byte', async () => {
    const smtp = await server({ credentials, implicitTls: true });
    await mailer(`smtps://${login}@127.0.0.1:${smtp.port}`).send(mail);
    expect(smtp.logins).toEqual([{ ...credentials, encrypted: true }]);
  });

  test('is not attempted without the TLS that the address demands', async () => {
    const smtp = await server({ credentials });
    await expect(mailer(`smtp://${login}@127.0.0.1:${smtp.port}?tls=required`).send(mail)).rejects.toThrow(Unavailable);
    expect(smtp.logins).toEqual([]);
  });

  test.each(['smtp', 'smtps'])(
    'is not attempted when %s shows a certificate that nobody vouches for',
    async (protocol) => {
      const smtp = await server({ credentials, implicitTls: protocol === 'smtps', startTls: true });
      const sender = mailer(`${protocol}://${login}@127.0.0.1:${smtp.port}?tls=required`);
      await expect(sender.send(mail)).rejects.toThrow(Unavailable);
      expect(smtp.logins).toEqual([]);
    },
  );

  test('that is refused makes mail unavailable, without the password in the error', async () => {
    const smtp = await server({ credentials });
    smtp.mode = 'refuse auth';
    const error: unknown = await mailer(`smtp://${login}@127.0.0.1:${smtp.port}`)
      .send(mail)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Unavailable);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error)) + String((error as Error).cause)).not.toContain(
      'p:a/s%s',
    );
  });
});

describe('A mail server that is not well', () => {
  test('and refuses the mailbox for good is told apart from one that is away', async () => {
    const smtp = await server();
    smtp.mode = 'reject recipient';
    await expect(mailer(smtp.url).send(mail)).rejects.toThrow(MailRefused);
  });

  test('and relays for nobody is unavailable, because every mail would fail', async () => {
    const smtp = await server();
    smtp.mode = 'deny relay';
    const error: unknown = await mailer(smtp.url)
      .send(mail)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).not.toBeInstanceOf(MailRefused);
  });

  test('and listens nowhere is unavailable, for a mail and a ping', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    await smtp.close();
    await expect(sender.send(mail)).rejects.toMatchObject({ dependency: 'mail' });
    await expect(sender.ping()).rejects.toThrow(Unavailable);
  });

  test.each(['drop', 'freeze greeting'] as const)(
    '(%s) is unavailable and used again once it is back',
    async (mode) => {
      const smtp = await server();
      const sender = mailer(smtp.url);
      smtp.onFreeze = holdDeadlines(PATIENT_MS);
      smtp.mode = mode;
      await expect(sender.send(mail)).rejects.toThrow(Unavailable);
      await expect(sender.drop()).rejects.toThrow(Unavailable);
      await expect(sender.ping()).rejects.toThrow(Unavailable);
      smtp.mode = 'ok';
      await sender.send(mail);
      expect(smtp.mails).toHaveLength(1);
    },
  );

  test('and stalls in the middle of a message is unavailable and used again once it is back', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    smtp.onFreeze = holdDeadlines(PATIENT_MS);
    smtp.mode = 'freeze data';
    const sends = Array.from({ length: 12 }, () => sender.send(mail));
    const outcomes = await Promise.allSettled(sends);
    expect(outcomes.every((outcome) => outcome.status === 'rejected')).toBe(true);
    smtp.mode = 'ok';
    await sender.send(mail);
    expect((await smtp.nextMail()).envelope.to).toEqual(['ada@example.com']);
  });

  test('that froze is given up also when nothing is configured', async () => {
    const smtp = await server();
    smtp.onFreeze = holdDeadlines(DEFAULT_MS);
    smtp.mode = 'freeze greeting';
    const from = mailSender.parse('no-reply@example.org');
    const sender = new SmtpMailer({ server: mailServer.parse(smtp.url), from });
    await expect(sender.prepare(mail)).rejects.toThrow(Unavailable);
  });

  test('that hung up between two mails costs the second nothing', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    await sender.send(mail);
    smtp.dropConnections();
    await sender.send(mail);
    expect(smtp.mails).toHaveLength(2);
  });

  test('whose kept connection went silent is reached over a new one', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    await sender.send(mail);
    smtp.freezeConnections();
    await sender.send(mail);
    expect(smtp.mails).toHaveLength(2);
    expect(smtp.connections).toBe(2);
  });
});

describe('A mail that is ready', () => {
  test('and is not sent delivers nothing', async () => {
    const smtp = await server();
    await mailer(smtp.url).drop();
    expect(smtp.connections).toBe(1);
    expect(smtp.mails).toEqual([]);
  });

  test('is ready before the server has heard of any recipient', async () => {
    const smtp = await server();
    smtp.mode = 'reject recipient';
    const ready = await mailer(smtp.url).prepare();
    await expect(ready.send()).rejects.toThrow(MailRefused);
  });

  test('is not ready while the server is away', async () => {
    const smtp = await server();
    smtp.mode = 'drop';
    await expect(mailer(smtp.url).prepare()).rejects.toMatchObject({ dependency: 'mail' });
  });

  test('holds its connection for as long as a send, also when it is not sent', async () => {
    const smtp = await server();
    smtp.scanMs = 1_000;
    const sender = mailer(smtp.url);
    await sender.send(mail);
    await sender.drop();
    await sender.drop();
    expect(smtp.connections).toBe(2);
  });

  test('goes out on its connection although the mailer was closed meanwhile', async () => {
    const smtp = await server();
    const sender = mailer(smtp.url);
    const ready = await sender.prepare();
    sender.close();
    await ready.send();
    expect(smtp.mails).toHaveLength(1);
  });
});

test('A closed mailer hangs up and refuses further mail', async () => {
  const smtp = await server();
  const sender = mailer(smtp.url);
  await sender.send(mail);
  sender.close();
  await expect(sender.send(mail)).rejects.toThrow(Unavailable);
  await expect.poll(() => smtp.openConnections).toBe(0);
});
