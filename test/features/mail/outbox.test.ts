import { expect, test } from 'vitest';
import { DevMailbox } from '../../../src/mail/dev-mailbox.ts';
import type { KeptMail } from '../../../src/mail/contract.ts';

const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Plain words', html: '<p>Words</p>' };

test('The development mailbox keeps a mail and tells of it at once', async () => {
  const heard: KeptMail[] = [];
  const outbox = new DevMailbox({ onMail: (kept) => heard.push(kept), clock: { now: () => 7 } });
  await (await outbox.prepare(mail)).send();
  expect(heard).toEqual([{ ...mail, sentAtMs: 7 }]);
  expect(outbox.list()).toEqual(heard);
});

test('The development mailbox keeps the last 50 mails, newest first', async () => {
  const outbox = new DevMailbox();
  for (let n = 1; n <= 53; n += 1) await (await outbox.prepare({ ...mail, subject: `${n}` })).send();
  const subjects = outbox.list().map(({ subject }) => subject);
  expect(subjects).toHaveLength(50);
  expect([subjects[0], subjects.at(-1)]).toEqual(['53', '4']);
});

test('The development mailbox is as strict about addresses as the real mailer', async () => {
  await expect(new DevMailbox().prepare({ ...mail, to: 'a@example.com\r\nBcc: b@evil.example' })).rejects.toThrow(
    TypeError,
  );
});

test('A mail that is dropped leaves the development mailbox empty', async () => {
  const outbox = new DevMailbox();
  (await outbox.prepare(mail)).drop();
  expect(outbox.list()).toEqual([]);
});
