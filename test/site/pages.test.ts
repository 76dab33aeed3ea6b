import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Call, Result } from '../../src/http/route.ts';
import { NOBODY } from '../../src/operators/roles.ts';
import { faultReply, framingRefusal, plainReply } from '../../src/http/refusals.ts';
import { sendDocument } from '../../src/http/documents.ts';
import { sendFile } from '../../src/site/files.ts';
import { CONSOLE, somebody, type TestApp } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { errorOf } from '../http/app.ts';
import { useApps } from '../support/use-apps.ts';

const { build, buildForFile } = useApps();

/** Services for tests that change nothing. */
let plain: TestApp;
let secure: TestApp;
beforeAll(async () => {
  plain = await buildForFile();
  secure = await buildForFile({ env: { PUBLIC_URL: 'https://voice.example.com' } });
});

function callAt(atMs: number, headers: Readonly<Record<string, string>> = {}): Call {
  const request = { method: 'GET', path: '/', query: '', headers, duplicates: [], peer: '192.0.2.1', atMs };
  return {
    request: { ...request, requestId: 'req', body: Buffer.alloc(0), signal: () => new AbortController().signal },
    body: undefined,
    params: [],
    login: undefined,
    isService: false,
    operator: NOBODY,
    ip: '192.0.2.1',
    origin: undefined,
  };
}

/** The body that was sent, as text. */
function bodyOf(sent: Result): string | undefined {
  if (!('body' in sent && Buffer.isBuffer(sent.body))) return undefined;
  const isPacked = sent.headers?.some(([name]) => name === 'Content-Encoding');
  return (isPacked ? gunzipSync(sent.body) : sent.body).toString();
}

/** Everything outside the API: pages, and the files that they load. */
const files = (
  '/ /mark.svg /favicon.ico /robots.txt /llms.txt /share.png /demo /demo/demo.js /demo/demo.css /demo/config.json /demo/machines.json /widget.mjs ' +
  '/switchboard-widget.js /docs /docs/widget /docs/search.json /openapi.json /asyncapi.json /console /console/sessions /dev/mail /nothing ' +
  '/console/assets/none-12345678.js'
).split(' ');

describe('Every file', () => {
  test.each(files)('%s is shown in no frame, tells nobody where it was read, and shares no window', async (path) => {
    const { headers } = await plain.get(path);
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'/),
    });
    expect(headers).not.toHaveProperty('strict-transport-security');
  });

  test.each([...files, '/api/auth/session', '/api/nothing'])(
    '%s is asked for by https alone, where there is',
    async (path) => {
      expect((await secure.get(path)).headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
    },
  );

  test.each(['/demo', '/demo/demo.js', '/demo/demo.css', '/demo/machines.json', '/openapi.json', '/asyncapi.json'])(
    '%s is sent packed to those who take it so',
    async (path) => {
      const [unpacked, packed] = [await plain.get(path), await plain.get(path, { 'accept-encoding': 'gzip' })];
      expect(unpacked.headers['content-encoding']).toBeUndefined();
      expect(packed.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': unpacked.headers['content-type'],
      });
      expect(packed.headers['etag']).not.toBe(unpacked.headers['etag']);
      for (const { headers } of [unpacked, packed]) expect(headers['vary']).toContain('Accept-Encoding');
    },
  );
});

test.each([true, false])(
  'What is answered before anything of a request was read is guarded as well, with https: %s',
  (isHttps) => {
    for (const { headers } of [
      plainReply(framingRefusal(), 'req', isHttps),
      faultReply(new Error('x'), 'req', isHttps),
    ]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      });
      expect(headers.some(([name]) => name === 'Strict-Transport-Security')).toBe(isHttps);
    }
  },
);

describe('Programs that look for pages', () => {
  test('are told that no page of operators is to be listed', async () => {
    const { headers, text } = await plain.get('/robots.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^User-agent: \*\n(?:Disallow: \/\S+\n)+$/);
    for (const path of ['/api/', '/console', '/dev/']) expect(text).toContain(`Disallow: ${path}\n`);
  });

  test('find what there is for language models, by addresses that lead somewhere', async () => {
    const app = secure;
    const { text } = await app.get('/llms.txt');
    expect(text).toMatch(/^# Switchboard\n\n> /);
    const links = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => new URL(link));
    expect(links.length).toBeGreaterThan(3);
    for (const { origin, pathname } of links) {
      expect(origin).toBe('https://voice.example.com');
      expect((await app.get(pathname)).status).toBe(200);
    }
  });

  test.each(['/', '/demo', '/docs', '/docs/widget'])('read from %s what a link to it should show', async (path) => {
    const app = secure;
    const { text } = await app.get(path);
    const tags = Object.fromEntries(
      [...text.matchAll(/<meta property="og:(\S+)" content="([^"]*)"/g)].map(([, k, v]) => [k, v]),
    );
    expect(tags).toMatchObject({
      title: expect.stringMatching(/^Switchboard/),
      description: expect.stringMatching(/\.$/),
      url: `https://voice.example.com${path}`,
      image: 'https://voice.example.com/share.png',
    });
    const picture = await app.get('/share.png');
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png']);
  });
});

test('The licences of what the files for browsers are built from are beside them', async () => {
  const { status, headers, text } = await plain.get('/third-party-notices.txt');
  expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/plain/)]);
  expect(text).toMatch(/^preact \S+, MIT\n/m);
});

describe('A description of the interface', () => {
  test('is made once, however often it is asked for, and packed once', async () => {
    let made = 0;
    const handle = sendDocument(() => ({ made: (made += 1) }));
    for (const taken of ['identity', 'gzip']) {
      const asked = Array.from({ length: 5 }, async () => handle(callAt(NOON, { 'accept-encoding': taken })));
      const replies = await Promise.all(asked);
      expect(replies.map(bodyOf)).toEqual(replies.map(() => '{"made":1}'));
      expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
    }
  });

  test.each(['/openapi.json', '/asyncapi.json'])('%s is not sent again to who has it', async (path) => {
    const app = plain;
    const first = await app.get(path);
    expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
    const again = await app.get(path, { 'if-none-match': String(first.headers['etag']) });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await app.get(path, { 'if-none-match': '"another"' })).text).toBe(first.text);
  });
});

describe('A file of the build', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-files-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function write(text: string, mtimeSec: number): Promise<URL> {
    const path = join(directory, 'page.js');
    await writeFile(path, text);
    await utimes(path, mtimeSec, mtimeSec);
    return pathToFileURL(path);
  }

  const read = async (file: URL, atMs: number): Promise<unknown> => bodyOf(await sendFile(callAt(atMs), file));

  test('is looked for once a second, and sent from memory in between', async () => {
    const file = await write('one', 1);
    expect(await read(file, NOON)).toBe('one');
    await write('two', 2);
    expect(sendFile(callAt(NOON + 999), file)).toMatchObject({ status: 200, body: Buffer.from('one') });
    expect(await read(file, NOON + SECOND)).toBe('two');
  });

  test('is looked for once for all who ask at the same time', async () => {
    const file = await write('one', 1);
    const sent = await Promise.all(Array.from({ length: 20 }, async () => sendFile(callAt(NOON), file)));
    expect(new Set(sent.map((each) => 'body' in each && each.body)).size).toBe(1);
  });

  test('that is not there is not found, and is found when it is there', async () => {
    const missing = pathToFileURL(join(directory, 'page.js'));
    expect(await sendFile(callAt(NOON), missing)).toMatchObject({ code: 'NOT_FOUND' });
    await write('here', 1);
    expect(await read(missing, NOON)).toBe('here');
  });
});

describe('The operator console', () => {
  const paths = ['/console', '/console/', '/console/login', '/console/sessions/s:x:y', '/console/keys/acme/site/more'];

  test('is one page at every path under /console, which loads from this origin and nothing else', async () => {
    const app = plain;
    const replies = await Promise.all(paths.map((path) => app.get(path)));
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    for (const { status, headers } of replies) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
      expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
    }
    expect((await app.get('/consoles')).status).toBe(404);
  });

  test('names its files, which browsers keep for ever and get packed where they take it so', async () => {
    const app = plain;
    const { text } = await app.get('/console');
    const names = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThanOrEqual(2);
    for (const name of names) {
      const unpacked = await app.get(name);
      const packed = await app.get(name, { 'accept-encoding': 'br, gzip' });
      for (const { headers } of [unpacked, packed])
        expect(headers).toMatchObject({
          'cache-control': 'public, max-age=31536000, immutable',
          vary: expect.stringContaining('Accept-Encoding'),
          'content-type': expect.stringMatching(/^text\/(?:css|javascript); charset=utf-8$/),
        });
      expect(unpacked.headers['content-encoding']).toBeUndefined();
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect((await app.get(name, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBeUndefined();
    }
  });

  test.each(['/console/assets/none-12345678.js', '/console/assets/..%2f..%2fmain.js', '/console/assets/console.js'])(
    'has no %s',
    async (path) => {
      const app = plain;
      expect(errorOf(await app.get(path))).toEqual({ status: 404, code: 'NOT_FOUND' });
    },
  );
});

describe('The development mailbox', () => {
  const near = { peer: '127.0.0.1', headers: { host: 'localhost:3000' } };
  const proxied: Record<string, string>[] = [
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-forwarded-proto': 'https' },
    { 'x-real-ip': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { via: '1.1 proxy' },
    { host: 'voice.example.com' },
  ];

  test('opens on the machine itself, and not to what came through a proxy that says so', async () => {
    const app = await build();
    await app.post('/api/auth/otp/send', { email: somebody() });
    expect((await app.send({ path: '/dev/mail', ...near })).status).toBe(200);
    expect((await app.send({ path: '/dev/mail', ...near, peer: '192.0.2.1' })).status).toBe(403);
    for (const headers of proxied) {
      const reply = await app.send({ path: '/dev/mail', peer: near.peer, headers: { ...near.headers, ...headers } });
      expect(errorOf(reply)).toEqual({ status: 403, code: 'FORBIDDEN' });
    }
  });

  test('opens to nobody where the service is known under a public name: a proxy may bring strangers without a word', async () => {
    const app = await build({ env: { PUBLIC_URL: 'https://voice.example.com' } });
    expect(errorOf(await app.send({ path: '/dev/mail', ...near }))).toEqual({ status: 403, code: 'FORBIDDEN' });
    const here = await build({ env: { PUBLIC_URL: CONSOLE } });
    expect((await here.send({ path: '/dev/mail', ...near })).status).toBe(200);
  });
});
