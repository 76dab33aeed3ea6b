import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import type { SmtpMode } from '../support/smtp.ts';
import { World } from '../support/world.ts';

const ada = 'ada@acme.example';

let world: World;

afterEach(() => world.close());

describe('A mail server', () => {
  test('that freezes costs no code', async () => {
    world = await World.start({ MAX_OTP_PER_HOUR: '1' });
    const browser = world.person();
    world.smtp.mode = 'freeze greeting';
    const refused = await browser.post('/api/auth/otp/send', { email: ada });
    expect(refused).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.retryAfter));

    world.smtp.mode = 'ok';
    const code = await world.mailedCode(browser, ada);
    expect((await browser.post('/api/auth/otp/verify', { email: ada, code })).status).toBe(200);
    const spent = await browser.post('/api/auth/otp/send', { email: ada });
    expect(spent).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } });
    expect(world.leaks()).toEqual([]);
  });

  test.each<SmtpMode>(['reject recipient', 'deny relay'])(
    'that refuses (%s) tells nobody who is known',
    async (mode) => {
      world = await World.start({ CONSOLE_EMAILS: '@acme.example', LOG_LEVEL: 'info' });
      world.smtp.mode = mode;
      const [known, stranger] = await Promise.all(
        [ada, 'eve@evil.example'].map((email) => world.person().post('/api/auth/otp/send', { email })),
      );
      expect(known).toMatchObject({ status: 200, text: stranger?.text });
      const event = mode === 'reject recipient' ? 'mail.refused' : 'dependency.away';
      await expect.poll(() => world.printed()).toContain(`"event":"${event}"`);
      expect(world.leaks()).toEqual([]);
    },
  );

  test('that is away keeps neither logins nor sessions from going on', async () => {
    world = await World.start();
    const browser = await world.login(ada);
    world.smtp.mode = 'drop';
    world.smtp.dropConnections();
    expect((await world.person().post('/api/auth/otp/send', { email: 'grace@acme.example' })).status).toBe(503);
    expect((await browser.get('/api/auth/session')).status).toBe(200);
    expect((await browser.post('/api/session', { tenantId: 'acme', agentId: 'support' })).status).toBe(200);
  });

  test('gets mail only for those who may log in, and strangers are told the same', async () => {
    world = await World.start({ CONSOLE_EMAILS: '@acme.example' });
    const stranger = await world.person().post('/api/auth/otp/send', { email: 'eve@evil.example' });
    await world.mailedCode(world.person(), ada);
    const known = await world.person().post('/api/auth/otp/send', { email: ada });
    expect(stranger).toMatchObject({ status: known.status, text: known.text });
    expect(world.smtp.mails.flatMap(({ envelope }) => envelope.to)).not.toContain('eve@evil.example');
  });
});

describe('Without a mail server', () => {
  const mailbox = '/dev/mail';

  test('the code is on the terminal and in the mailbox, and logs in', async () => {
    world = await World.start({ SMTP_URL: '', OPENAI_API_KEY: '', UPSTREAM_PROVIDER: '', UPSTREAM_BASE_URL: '' });
    const browser = world.person();
    expect((await browser.post('/api/auth/otp/send', { email: ada })).status).toBe(200);
    const code = /Mail to ada@acme\.example: (\d{6})/.exec(world.printed())?.[1];
    const page = await browser.get(mailbox);
    expect(page.status).toBe(200);
    expect(page.text).toContain(code);
    expect((await browser.post('/api/auth/otp/verify', { email: ada, code })).status).toBe(200);
  });

  test('the mailbox opens only on the machine itself, under its own name', async () => {
    world = await World.start({ SMTP_URL: '', HOST: '0.0.0.0' });
    const { port } = world.server;
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const outside = addresses
      .filter(({ internal, family }) => !internal && family === 'IPv4')
      .map(({ address }) => address);
    expect((await world.person().get(mailbox)).status).toBe(200);
    expect((await world.person().get(mailbox, { 'X-Forwarded-For': '127.0.0.1' })).status).toBe(403);
    for (const address of outside) {
      const neighbour = new Client(() => `http://${address}:${port}`);
      expect(await neighbour.get(mailbox), address).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      expect((await neighbour.get('/healthz')).status).toBe(200);
    }
  });

  test('a server with one has no mailbox', async () => {
    world = await World.start();
    expect(world.printed()).not.toContain(mailbox);
    expect((await world.person().get(mailbox)).status).toBe(404);
  });
});
