import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { World } from '../support/world.ts';

const ada = 'ada@acme.example';

let world: World;

afterEach(() => world.close());

describe('A mail server', () => {
  test('that is away stops neither logins nor sessions', async () => {
    world = await World.start();
    const browser = await world.login(ada);
    world.smtp.mode = 'drop';
    world.smtp.dropConnections();
    expect((await world.person().post('/api/auth/otp/send', { email: 'grace@acme.example' })).status).toBe(503);
    expect((await browser.get('/api/auth/session')).status).toBe(200);
    expect((await browser.post('/api/session', { tenantId: 'acme', agentId: 'support' })).status).toBe(200);
  });
});

describe('Without a mail server', () => {
  const mailbox = '/dev/mail';

  test('the code appears on the terminal and in the mailbox, and logs in', async () => {
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

  test('and only then, there is a mailbox', async () => {
    world = await World.start();
    expect(world.printed()).not.toContain(mailbox);
    expect((await world.person().get(mailbox)).status).toBe(404);
  });
});
