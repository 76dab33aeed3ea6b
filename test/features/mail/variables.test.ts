import { describe, expect, test } from 'vitest';
import { readConfig } from '../../../config/config.ts';
import { mailSender, mailServer } from '../../../src/mail/variables.ts';

describe("The mail server's address", () => {
  test.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, implicitTls: false, verifyTls: false }],
    ['smtp://mail.example.com:25', { port: 25, implicitTls: false }],
    ['smtps://mail.example.com', { port: 465, implicitTls: true, verifyTls: true }],
    ['smtp://mail.example.com:465', { port: 465, implicitTls: true, verifyTls: true }],
    ['smtp://u:p@mail.example.com', { verifyTls: true, credentials: { user: 'u', pass: 'p' } }],
    ['smtp://u%40x:p%25%2F@mail.example.com', { credentials: { user: 'u@x', pass: 'p%/' } }],
    ['smtp://u:p@localhost:1025', { verifyTls: false }],
    ['smtp://u:p@[::1]:1025', { host: '::1', verifyTls: false }],
    ['smtp://u:p@relay?tls=optional', { verifyTls: false }],
    ['smtp://127.0.0.1?tls=required', { verifyTls: true }],
  ])('%s is understood', (text, settings) => {
    expect(readConfig({ SMTP_URL: text }).mail.server).toMatchObject(settings);
  });

  test.each([
    '',
    'mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://host?pool=true',
    'smtp://host?tls=perhaps',
  ])('%j is refused', (text) => {
    expect(mailServer.safeParse(text).success).toBe(false);
  });

  test('that is refused does not show its password', () => {
    const { error } = mailServer.safeParse('smtp://u:sec%ret@host');
    expect(error?.message).toContain('percent-encoded');
    expect(error?.message).not.toContain('sec');
  });
});

describe('The sender', () => {
  test.each([
    ['no-reply@localhost', '', 'no-reply@localhost'],
    ['Switchboard <no-reply@localhost>', 'Switchboard', 'no-reply@localhost'],
    ['"Ex, Ample" <a@example.com>', 'Ex, Ample', 'a@example.com'],
    ['  Zoë Ångström <z@example.com> ', 'Zoë Ångström', 'z@example.com'],
  ])('%s is understood', (text, name, address) => {
    expect(readConfig({ MAIL_FROM: text }).mail.from).toEqual({ name, address });
  });

  test.each([
    '',
    'nobody',
    '<>',
    'A <a@example.com> <b@example.com>',
    'A\r\nBcc: b@evil.example <a@example.com>',
    'a@b@c',
  ])('%j is refused', (text) => {
    expect(mailSender.safeParse(text).error?.message).toContain('no-reply@example.com');
  });
});
