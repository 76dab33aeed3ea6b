import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { html } from '../../src/site/html.ts';
import { CONSOLE, type TestApp } from '../support/app.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { useApps } from '../support/use-apps.ts';

const { build, database } = useApps();

const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://voice.example.com',
  DATABASE_URL: 'postgres://switchboard:password@db.example.com:5432/switchboard',
  REDIS_URL: 'redis://redis.example.com:6379',
  UPSTREAM_PROVIDER: 'openai',
  OPENAI_API_KEY: 'sk-never-used',
  JWT_SECRET: 'a-secret-that-is-long-enough-for-production-0123456789',
  CONSOLE_EMAILS: 'ops@example.com',
  SMTP_URL: 'smtps://user:password@smtp.example.com:465',
  CALL_MODE: 'direct',
};

/** The addresses that a page links to. */
const links = (text: string): string[] => [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href);

const near = { path: '/', peer: '127.0.0.1', headers: { host: 'localhost:3000' } };

describe('The first page in development', () => {
  let app: TestApp;

  test('leads to everything that there is, and shows the tag for a page', async () => {
    app = await build();
    const { status, text, headers } = await app.send(near);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(links(text)).toEqual(expect.arrayContaining(['/demo', '/console', '/docs', '/dev/mail']));
    expect(text).toContain(`&lt;script src=&quot;${CONSOLE}/switchboard-widget.js&quot; defer&gt;&lt;/script&gt;`);
    expect(text).toContain('widget-key=');
    expect(text).toContain('database');
    expect(text).toContain('data-up="yes"');
  });

  test('has the element itself in its corner where somebody answers, and may talk to nobody else', async () => {
    app = await build({ provider: new FakeProvider({ call: 'brokered', isSimulated: true }) });
    const demo = {
      ...(await app.key()),
      tenantId: 'shown',
      key: 'w_demo_local_00000000000000000000000000000000',
      origin: CONSOLE,
    };
    const agents = [{ id: 'guide' }];
    await app.service.stores.tenants.merge([{ id: 'shown', name: 'Shown', agents, admins: null, keys: [demo] }]);
    await app.service.directory.reload();
    const widget = /<switchboard-widget\s+widget-key="(w_[^"]+)"\s+tenant-id="shown"\s+agent-id="guide"/;
    const { text, headers } = await app.send(near);
    expect(text).toMatch(widget);
    expect(headers['content-security-policy']).toContain("connect-src 'self';");
    expect((await app.send({ ...near, peer: '192.0.2.1' })).text).not.toMatch(widget);
  });

  test('links the mailbox only where that opens', async () => {
    app = await build();
    expect(links((await app.send({ ...near, peer: '192.0.2.1' })).text)).not.toContain('/dev/mail');
  });

  test('says which dependency does not answer', async () => {
    app = await build();
    database().isAway = true;
    const { status, text } = await app.send(near);
    expect(status).toBe(200);
    expect(text).toContain('data-up="no"');
    expect(text).toMatch(/<dt>database<\/dt>\s*<dd class="away">does not answer/);
    expect(text).not.toContain('<dt>registry</dt><dd class="away">');
  });
});

describe('The first page in production', () => {
  test('says that the service is up, and nothing that helps an attacker', async () => {
    const app = await build({ env: production });
    const { text, headers } = await app.send(near);
    expect(text).toContain('data-up="yes"');
    expect(links(text)).toEqual(['/', '/docs']);
    expect(text).not.toMatch(/w_\w+|widget-key|database|registry|openai|\d+ ms|\d+\.\d+\.\d+|\/console|\/dev\/mail/i);
    expect(headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
  });

  test('says that it is degraded without saying why, as /readyz may be asked by those who need to know', async () => {
    const app = await build({ env: production });
    database().isAway = true;
    const { status, text } = await app.send(near);
    expect(status).toBe(200);
    expect(text).toContain('Degraded');
    expect(text).not.toMatch(/database|PostgreSQL/i);
  });
});

describe('The mark', () => {
  test('is one file for every page, also under the name that browsers ask for by themselves', async () => {
    const app = await build();
    const [mark, icon] = [await app.get('/mark.svg'), await app.get('/favicon.ico')];
    for (const { status, headers } of [mark, icon])
      expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml; charset=utf-8']);
    expect(icon.text).toBe(mark.text);
    for (const path of ['/', '/demo', '/docs', '/console', '/dev/mail'])
      expect((await app.send({ ...near, path })).text).toMatch(/<link rel="icon"[^>]* href="\/mark\.svg"/);
  });

  test('asks for nothing, and has colours for light and dark', () => {
    const source = readFileSync(new URL('../../src/web/static/mark.svg', import.meta.url), 'utf8');
    expect(source).not.toMatch(/href|url\(|@import|<script|<image/);
    expect(source).toContain('prefers-color-scheme: dark');
  });
});

describe('A piece of HTML', () => {
  test('escapes every text that is put in, and no piece', () => {
    const strong = html`<b>${'<i>"&\''}</b>`;
    expect(html`${strong}${[strong, html`!`]}${undefined}${false}${0}`.text).toBe(`${strong.text}${strong.text}!0`);
    expect(strong.text).toBe('<b>&lt;i&gt;&quot;&amp;&#39;</b>');
  });
});
