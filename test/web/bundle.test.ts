import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LANGUAGE, LANGUAGES } from '../../src/protocol/error-translations/languages.ts';
import { created } from '../support/fake-server.ts';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const read = (name: string): Promise<string> => readFile(join(built, name), 'utf8');

describe('The widget SDK as it is served', () => {
  test.each(['widget.mjs', 'widget.js'])('%s has at most 7.5 kB after gzip', async (name) => {
    expect(gzipSync(await read(name)).length).toBeLessThanOrEqual(7500);
  });

  test.each(['widget.mjs', 'widget.js'])('%s imports nothing', async (name) => {
    expect(await read(name)).not.toMatch(/\bimport\b|\brequire\(/);
  });

  test('the module exports connect and its error', async () => {
    const sdk = (await import(join(built, 'widget.mjs'))) as Record<string, unknown>;
    expect(Object.keys(sdk).toSorted()).toEqual(['SwitchboardError', 'connect']);
  });

  test('the plain script defines one global, Switchboard', async () => {
    const page: Record<string, unknown> = {};
    runInNewContext(await read('widget.js'), page);
    expect(Object.keys(page)).toEqual(['Switchboard']);
    expect(page['Switchboard']).toMatchObject({ connect: expect.any(Function) });
  });

  test('its own error codes are those that docs/widget.md explains', async () => {
    const manual = await readFile(new URL('../../docs/widget.md', import.meta.url), 'utf8');
    const [, table = ''] = manual.split('| code | when |\n|---|---|\n');
    const explained = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)`/gm)].map(([, code]) => code);
    const [, list = ''] = (await read('widget.d.mts')).split('export type OwnCode =');
    const codes = [...(list.split(';')[0] ?? '').matchAll(/\| '(\w+)'/g)].map(([, code]) => code);
    expect(explained).toEqual(codes);
    expect(codes).toContain('CALL_LOST');
  });

  describe('types', () => {
    const first = `import { connect, SwitchboardError, type CreateReply, type OwnCode } from './widget.mjs';
        const audio = { deviceId: 'default' };
        const { signal } = new AbortController();
        const session = await connect({ baseUrl: 'https://s.example', widgetKey: 'w_x', tools: [{ kind: 'http_tool', name: 'x' }], audio, signal });
        session.on('warning', ({ reason, secondsLeft }) => console.log(reason === 'idle', secondsLeft?.toFixed()));
        const lost: OwnCode = 'CALL_LOST';
        session.on('media', ({ state, error }) => console.log(state === 'lost' && error?.code === lost));
        const stop: () => void = session.on('ended', ({ userMessage }) => console.log(userMessage.length));
        // @ts-expect-error: there is no such event
        session.on('nothing', stop);
        session.on('transcript', ({ who, text, final }) => console.log(who === 'agent', text.length, final === true));
        session.on('level', ({ visitor, agent }) => console.log(visitor.toFixed(2), agent.toFixed(2)));
        session.mute();
        await session.setDevice((await session.devices())[0]?.deviceId ?? '');
        session.send(session.muted ? 'I cannot speak.' : 'Hello');
        await connect({ tools: { lookup: async ({ id }, { signal }) => fetch('/people/' + id, { signal }), say: { description: 'x', run: () => 'y' } } });
        const { tokens } = await session.reportUsage({ tokens: 1, dollars: 0.1 });
        const call = await session.connectAudio({ reportUsage: ({ total_tokens }) => ({ tokens: total_tokens }) });
        const { peer, stream } = call;
        call.say({ type: 'response.create' });
        for (const track of stream.getAudioTracks()) await call.replaceTrack(track);
        const reply: CreateReply = { id: session.providerSessionId, sm_session_id: session.id, client_secret: session.clientSecret,
          heartbeat: { intervalSec: 45, url: '', socketUrl: '' }, limits: session.limits, call: { mode: 'direct', url: null, dataChannel: 'open' } };
        await connect({ created: reply });
        await connect({ created: async () => (await fetch('/voice/session', { method: 'POST' })).json(), email: 'a@b.example' });
        const error = new SwitchboardError({ code: 'MINE', userMessage: 'No.' }, 400);
        console.log(tokens.toFixed(), peer.connectionState, error instanceof Error, error.reason?.length, error.error?.length, error.challenge?.siteKey?.length);`;
    const script = `(async () => {
      const options: Switchboard.ConnectOptions = { widgetKey: 'w_x', audio: true };
      const session: Switchboard.Session = await window.Switchboard.connect(options).catch((error: unknown) => {
        throw error instanceof Switchboard.SwitchboardError ? error.userMessage : error;
      });
      session.on('media', ({ state }: Switchboard.MediaEvent) => console.log(state === 'connected'));
      // @ts-expect-error: there is no such function
      Switchboard.disconnect();
    })();`;
    const element = `
      const widget = document.querySelector('switchboard-widget');
      if (widget === null) throw new Error('no element');
      widget.texts = { launcher: 'Ask Ada', status: { listening: 'I hear you' }, errors: { DAILY_QUOTA_EXCEEDED: 'Until tomorrow!' } };
      widget.tools = { lookup: async ({ id }, { signal }) => fetch('/people/' + id, { signal }) };
      widget.addEventListener('switchboard-level', ({ detail: { agent } }) => console.log(agent.toFixed(2)));
      document.addEventListener('switchboard-transcript', ({ detail }) => console.log(detail.final && detail.text.length));
      document.addEventListener('switchboard-error', ({ detail }) => console.log(detail.userMessage.length, detail.retryAfter?.toFixed()));
      widget.start();
      widget.mute(!widget.muted);
      widget.open = widget.session?.state === 'idle';
      void widget.end().then(() => console.log(document.createElement('switchboard-widget').session?.id.length));
      // @ts-expect-error: there is no such status
      widget.texts = { status: { asleep: 'Zzz' } };
      // @ts-expect-error: it is the element's to say
      widget.muted = true;`;

    /** Names everything that a session and an error have at run time. */
    async function atRunTime(): Promise<string> {
      const { connect, SwitchboardError } = (await import(join(built, 'widget.mjs'))) as {
        readonly connect: (options: object) => Promise<{ readonly end: () => Promise<void> }>;
        readonly SwitchboardError: new (body: object) => object;
      };
      function noSocket(): never {
        throw new Error('blocked');
      }
      const session = await connect({
        baseUrl: 'https://s.example',
        fetch: (url: string) => Promise.resolve(Response.json(url.endsWith('/session') ? created : { ok: true })),
        WebSocket: noSocket,
      });
      await session.end();
      const keys = (value: object): string => JSON.stringify(Object.keys(value));
      return `import type { Session, SwitchboardError } from './widget.mjs';
        export const inSession: (keyof Session)[] = ${keys(session)};
        export const inError: (keyof SwitchboardError)[] = ${keys(new SwitchboardError({ code: 'X' }))};`;
    }

    test('describe a first widget, the global of the plain script, the element and all that there is at run time, to authors of pages', async () => {
      const files = {
        'first.mts': first,
        'script.ts': `/// <reference path="./widget.d.ts" />\n${script}`,
        'module.ts': `import './widget.js';\n${script}\nexport {};`,
        'element.mts': `import './switchboard-widget.mjs';\n${element}`,
        'element-script.ts': `/// <reference path="./switchboard-widget.d.ts" />\n(() => {${element}})();`,
        'all.mts': await atRunTime(),
      };
      const directory = await mkdtemp(join(tmpdir(), 'switchboard-types-'));
      for (const name of ['widget.d.mts', 'widget.d.ts', 'switchboard-widget.d.mts', 'switchboard-widget.d.ts'])
        await writeFile(join(directory, name), await read(name));
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      const settings = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
      const run = [compiler, ...settings, '--types', '', ...Object.keys(files)];
      const { status, stdout } = spawnSync(process.execPath, run, { cwd: directory, encoding: 'utf8' });
      await rm(directory, { recursive: true });
      expect([status, stdout]).toEqual([0, '']);
    });
  });
});

describe('The element as it is served', () => {
  test.each(['mjs', 'js'])(
    'switchboard-widget.%s has at most 18 kB after gzip, including the SDK and English',
    async (kind) => {
      expect(gzipSync(await read(`switchboard-widget.${kind}`)).length).toBeLessThanOrEqual(18_000);
    },
  );

  test.each(LANGUAGES.filter((language) => language !== DEFAULT_LANGUAGE))(
    'its words in %s are a module of at most 1.5 kB',
    async (language) => {
      const name = `switchboard-widget-${language}.mjs`;
      expect(gzipSync(await read(name)).length).toBeLessThanOrEqual(1500);
      expect(await import(join(built, name))).toMatchObject({ words: { launcher: expect.any(String) } });
    },
  );

  test('the code that only a conversation needs is a module of at most 3 kB, which is loaded on demand', async () => {
    const text = await read('switchboard-widget-talk.mjs');
    expect(gzipSync(text).length).toBeLessThanOrEqual(3000);
    expect(text).not.toMatch(/\bimport\b/);
  });

  test('the code that solves challenges is a module of at most 3 kB, which is loaded on demand', async () => {
    const text = await read('switchboard-widget-challenge.mjs');
    expect(gzipSync(text).length).toBeLessThanOrEqual(3000);
    expect(text).not.toMatch(/\bimport\b/);
    expect(await import(join(built, 'switchboard-widget-challenge.mjs'))).toMatchObject({
      solve: expect.any(Function),
    });
  });

  test('defines no global names in the page', async () => {
    const names: string[] = [];
    const page = {
      document: { currentScript: { src: 'https://s.example/switchboard-widget.js' } },
      URL,
      HTMLElement: EventTarget,
      customElements: { get: () => undefined, define: (name: string) => names.push(name) },
    };
    const before = Object.keys(page);
    runInNewContext(await read('switchboard-widget.js'), page);
    expect(Object.keys(page)).toEqual(before);
    expect(names).toEqual(['switchboard-widget']);
  });
});
