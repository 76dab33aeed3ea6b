import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Challenge } from '../../src/protocol/challenge.ts';
import { CONSOLE, service, STAFF, type Reply, type TestApp } from '../support/app.ts';
import { SiteverifyServer } from '../support/siteverify-server.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';

const { build } = useApps();

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
const own = {
  provider: 'turnstile',
  siteKey: 'site-of-acme',
  secret: '${secret:captcha}',
  challenge: 'always',
} as const;

let verify: SiteverifyServer;
let app: TestApp;
beforeEach(async () => {
  verify = await SiteverifyServer.start('turnstile');
  app = await build({
    env: { BOT_PROVIDER: 'heuristic', BOT_VERIFY_URL: verify.url, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
  });
});
afterEach(async () => {
  expect(verify.wrongs).toEqual([]);
  await verify.close();
});

function challengeOf(reply: Reply): Challenge {
  expect(errorOf(reply)).toEqual({ status: 403, code: 'BOT_BLOCKED' });
  return reply.body['challenge'] as Challenge;
}

test('A key may have a provider of its own, whose secret its tenant stores, in an installation without one', async () => {
  const key = await app.key({ origin: 'https://own.acme.example', bots: own });
  const other = await app.key();
  expect((await app.create(other, {}, browser)).status).toBe(200);
  const { data, action, siteKey } = challengeOf(await app.create(key, {}, browser));
  expect(siteKey).toBe('site-of-acme');
  const token = (): string =>
    verify.solve({ hostname: 'own.acme.example', action, cdata: data, atMs: app.clock.now() });
  const create = (): Promise<Reply> => app.create(key, {}, { ...browser, 'x-switchboard-challenge': token() });

  // Without the secret no token counts: the heuristic judges, and the log says so.
  expect((await create()).status).toBe(200);
  expect(app.logged()).toContain('there is no secret to verify by');
  expect(verify.asked).toEqual([]);
  await app.post('/api/operator/secrets', { tenantId: 'acme', name: 'captcha', value: verify.secret }, service);
  app.clock.advance(30_000);
  expect((await create()).status).toBe(200);
  expect(verify.asked).toHaveLength(1);
  expect(app.logged()).not.toContain(verify.secret);
});

test('A key may override some settings of the installation’s challenges, and no others', async () => {
  app = await build({ env: { BOT_PROVIDER: 'altcha' } });
  const always = await app.key({ bots: { challenge: 'always' } });
  const refused = await app.create(always, {}, browser);
  expect(challengeOf(refused).provider).toBe('altcha');
  expect(await whyRefused(app, refused)).toContain('(BOT_PROVIDER)');
  const path = `/api/realtime/challenge?widgetKey=${(await app.key({ bots: own })).key}`;
  expect((await app.get(path)).status).toBe(404);
});

test('The API accepts them for a key under the rules of the file, and only from an operator', async () => {
  const issue = (bots: object, headers: Readonly<Record<string, string>> = service, id = 'shop'): Promise<Reply> =>
    app.post('/api/operator/keys', { tenantId: 'acme', id, origin: 'https://shop.acme.example', bots }, headers);
  const issued = await issue(own);
  expect(issued.status).toBe(201);
  expect((issued.body['key'] as { readonly bots: object }).bots).toEqual(own);
  const wrong = [
    [{ provider: 'turnstile' }, 'bots.siteKey: is missing'],
    [{ provider: 'altcha', siteKey: 'site' }, 'bots.siteKey: must be left out'],
    [{ ...own, secret: '0x4AAA-the-secret-itself' }, 'bots.secret: must be ${secret:NAME}'],
    [{ minScore: 2 }, 'minScore'],
    [{ provider: 'none' }, 'provider'],
    [{ colour: 'red' }, 'colour'],
  ] as const;
  for (const [bots, message] of wrong) {
    const reply = await issue(bots);
    expect(errorOf(reply)).toEqual({ status: 400, code: 'INVALID_REQUEST' });
    expect(JSON.stringify(reply.body['details'])).toContain(message.split(': ').at(-1));
    expect(reply.text).not.toContain('0x4AAA-the-secret-itself');
  }
  app = await build({ env: STAFF });
  await app.service.stores.tenants.merge([
    { id: 'own', name: 'Own', agents: [], admins: ['boss@own.example'], keys: [] },
  ]);
  await app.service.directory.reload();
  const body = { tenantId: 'own', id: 'shop', origin: 'https://shop.own.example', bots: { challenge: 'suspect' } };
  const admin = await app.post('/api/operator/keys', body, { ...(await app.as('boss@own.example')), origin: CONSOLE });
  expect(errorOf(admin)).toEqual({ status: 403, code: 'FORBIDDEN' });
});
