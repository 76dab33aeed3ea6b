import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openBrowserWithoutMicrophone, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { browser, host, useHost, widgetKey, world } from './use-host.ts';

const skipped = reasonToSkipBrowser();
const create = 'POST /api/session';

describe.skipIf(skipped !== undefined)(`A page that asks for the microphone first ${skipped ?? ''}`, () => {
  let visit: Visit;

  useHost({}, {}, 'asking');

  afterEach(() => visit.end());

  async function open(permissions: readonly string[], within = browser): Promise<void> {
    visit = await Visit.begin(within, [host.origin, world.server.origin], { permissions: [...permissions] });
    await visit.page.goto(`${host.origin}/`);
  }

  const connecting = (): string =>
    `Switchboard.connect({ baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}', audio: true })`;

  const told = (expression: string): Promise<unknown> =>
    visit.page.evaluate(`${expression}.then(() => 'connected', ({ code, userMessage }) => code + ': ' + userMessage)`);

  test('learns that the visitor refused it, without creating a session', async () => {
    await open([]);
    const expected = 'MICROPHONE_BLOCKED: Please allow the microphone.';
    expect(await told(connecting())).toBe(expected);
    expect(visit.requests).not.toContain(create);
  });

  test('learns that there is none, without creating a session', async () => {
    const silent = await openBrowserWithoutMicrophone();
    await open(['microphone'], silent);
    expect(await told(connecting())).toMatch(/^MICROPHONE_MISSING: Please connect a microphone/);
    expect(visit.requests).not.toContain(create);
    await silent.close();
  });

  test('learns that the page is not secure, without creating a session', async () => {
    await open([]);
    const sdk = await readFile(new URL('../../dist/web/widget.js', import.meta.url), 'utf8');
    const body = `<!doctype html><link rel="icon" href="data:,"><script>${sdk}</script>`;
    await visit.page.route('http://plain.example/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await visit.page.goto('http://plain.example/');
    expect(await told(connecting())).toMatch(/^MICROPHONE_INSECURE: .* not secure\.$/);
    expect(visit.requests).not.toContain(create);
  });

  test('creates a session once permission is given', async () => {
    await open(['microphone']);
    expect(await told(connecting())).toBe('connected');
    expect(visit.requests.filter((request) => request === create)).toHaveLength(1);
  });
});
