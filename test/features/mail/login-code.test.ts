import { describe, expect, test } from 'vitest';
import { loginCodeMail } from '../../../src/mail/templates/login-code.ts';

const input = {
  code: '042137',
  expiresInMinutes: 10,
  publicUrl: 'https://voice.example.com/console',
  requestedAtMs: Date.UTC(2026, 2, 1, 14, 5),
};

describe('The login mail', () => {
  test.each(['text', 'html'] as const)(
    'says in its %s part the code, the site, the expiry and what to do if unasked',
    (part) => {
      const body = loginCodeMail(input)[part];
      expect(body).toContain('042137');
      expect(body).toContain('voice.example.com');
      expect(body).toContain('10 minutes');
      expect(body).toMatch(/If you did not ask for this code, you can ignore this mail/);
      expect(body).toMatch(/Nobody from us will ever ask you for it/);
    },
  );

  test('keeps the code out of the subject and of what a locked screen shows', () => {
    const { subject, text, html } = loginCodeMail(input);
    expect(subject).toBe('Your login code for voice.example.com (14:05 UTC)');
    expect(text.slice(0, 100)).not.toContain(input.code);
    expect(html.slice(0, html.indexOf('<table'))).not.toContain(input.code);
  });

  test('writes the code in one piece, so that it can be copied, and exactly once', () => {
    const { html, text } = loginCodeMail(input);
    expect(html.split(input.code)).toHaveLength(2);
    expect(text.match(/\d{6}/g)).toEqual([input.code]);
  });

  test('tells when it was requested', () => {
    const { text, html } = loginCodeMail(input);
    expect(text).toContain('\n\nIt was requested at 14:05 UTC on 2026-03-01.\n\n');
    expect(html).toContain('>It was requested at 14:05 UTC on 2026-03-01.<');
  });

  test('escapes everything that it shows', () => {
    const { html } = loginCodeMail({ ...input, code: '<img src=x>' });
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x&gt;');
  });

  test('fetches nothing, links nowhere and runs nothing', () => {
    expect(loginCodeMail(input).html).not.toMatch(/https?:|src=|href=|url\(|@import|<script|<link|<img/i);
  });

  test('names its language and keeps its layout tables silent for screen readers', () => {
    const { html } = loginCodeMail(input);
    expect(html).toContain('<html lang="en"');
    expect(html.match(/<table /g)?.length).toBe(html.match(/<table role="presentation"/g)?.length);
    expect(html).toContain('prefers-color-scheme: dark');
  });

  test('speaks of one minute in the singular', () => {
    expect(loginCodeMail({ ...input, expiresInMinutes: 1 }).text).toContain('expires in 1 minute:');
  });
});
