import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DemoServer } from '../support/demo-server.ts';
import { installClient, type ClientProject } from '../support/packed-client.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

interface Described {
  readonly bytes: number;
  readonly gzip: number;
  readonly sha256: string;
}

interface PackageFile {
  readonly version: string;
  readonly license: string;
  readonly sideEffects: boolean;
  readonly repository: object;
  readonly publishConfig: object;
  readonly scripts?: object;
  readonly dependencies?: object;
  readonly peerDependencies: object;
  readonly peerDependenciesMeta: object;
}

describe('The package switchboard-client', () => {
  let project: ClientProject;
  let home: string;
  let manifest: Readonly<Record<string, Described>>;

  const read = (name: string): Promise<string> => readFile(join(home, name), 'utf8');
  const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(path, 'utf8')) as T;

  beforeAll(async () => {
    project = await installClient(['react', 'react-dom', 'undici', 'preact', 'vue', 'svelte', '@types']);
    home = join(project.folder, 'node_modules/switchboard-client');
    manifest = await readJson(join(home, 'dist/manifest.json'));
  });

  afterAll(() => project.close());

  test('contains exactly these files', () => {
    expect(project.files).toEqual([
      'LICENSE',
      'README.md',
      'dist/element.d.ts',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/manifest.json',
      'dist/preact.d.ts',
      'dist/react.d.ts',
      'dist/react.js',
      'dist/svelte.d.ts',
      'dist/vue.d.ts',
      'package.json',
    ]);
  });

  test('describes each built file correctly in its manifest', async () => {
    expect(Object.keys(manifest)).toEqual(
      project.files.filter((name) => name.startsWith('dist/') && name !== 'dist/manifest.json'),
    );
    for (const [name, { bytes, sha256 }] of Object.entries(manifest)) {
      const content = await readFile(join(home, name));
      expect([content.length, createHash('sha256').update(content).digest('hex')], name).toEqual([bytes, sha256]);
    }
  });

  test('has a core of at most 7.5 kB after gzip, and 1.4 kB more for the hook', () => {
    expect(manifest['dist/index.js']?.gzip).toBeLessThanOrEqual(7500);
    expect(manifest['dist/react.js']?.gzip).toBeLessThanOrEqual(1400);
  });

  test('has the same code and types as a server serves', async () => {
    const served = (name: string): Promise<string> => readFile(join(root, 'dist/web', name), 'utf8');
    expect(await read('dist/index.js')).toBe(await served('widget.mjs'));
    expect(await read('dist/index.d.ts')).toBe(await served('widget.d.mts'));
    const element = await served('switchboard-widget.d.mts');
    expect(await read('dist/element.d.ts')).toBe(element.replace('./widget.mjs', './index.js'));
    expect(await read('LICENSE')).toBe(await readFile(join(root, 'LICENSE'), 'utf8'));
  });

  test('has no dependencies and no install scripts, and can be published with provenance', async () => {
    const own = await readJson<PackageFile>(join(home, 'package.json'));
    const server = await readJson<PackageFile>(join(root, 'package.json'));
    expect([own.version, own.license]).toEqual([server.version, server.license]);
    expect([own.scripts, own.dependencies, own.sideEffects]).toEqual([undefined, undefined, false]);
    const frameworks = ['preact', 'react', 'svelte', 'vue'];
    expect(Object.keys(own.peerDependencies)).toEqual(frameworks);
    expect(own.peerDependenciesMeta).toEqual(Object.fromEntries(frameworks.map((name) => [name, { optional: true }])));
    expect(own.repository).toMatchObject({ type: 'git', directory: 'packages/client' });
    expect(own.publishConfig).toMatchObject({ provenance: true });
  });

  test('imports React only in its hook, which shares the core', async () => {
    const imports = async (name: string): Promise<readonly string[]> =>
      [...(await read(name)).matchAll(/\bfrom\s*["']([^"']+)["']/g)].map(([, from = '']) => from).toSorted();
    expect(await imports('dist/index.js')).toEqual([]);
    expect(await imports('dist/react.js')).toEqual(['./index.js', 'react']);
    // Frameworks that render on servers require this directive.
    expect(await read('dist/react.js')).toMatch(/^["']use client["'];/);
  });

  test('holds a session in Node, and renders on a server', async () => {
    const server = await DemoServer.start();
    const program = `
      import { connect, SwitchboardError } from 'switchboard-client';
      import { useSwitchboard } from 'switchboard-client/react';
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { WebSocket } from 'undici';
      const [, , baseUrl, widgetKey] = process.argv;
      const headers = { Origin: baseUrl };
      const session = await connect({ baseUrl, widgetKey, agentId: 'guide', headers, WebSocket });
      const beats = new Promise((resolve) => session.on('beat', resolve));
      await beats;
      const { transport } = session;
      await session.end();
      const refusal = await connect({ baseUrl, widgetKey: 'w_none', headers }).catch((error) => error);
      const page = renderToString(createElement(() => 'There is ' + useSwitchboard({}).state));
      console.log(JSON.stringify([transport, session.state, refusal instanceof SwitchboardError, refusal.code, page]));
    `;
    await writeFile(join(project.folder, 'program.mjs'), program);
    const args = ['program.mjs', server.direct, 'w_demo_local_00000000000000000000000000000000'];
    const { stdout } = await run(process.execPath, args, { cwd: project.folder });
    expect(JSON.parse(stdout)).toEqual(['socket', 'ended', true, 'INVALID_WIDGET_KEY', 'There is none']);
    await server.close();
  });

  describe('has types', () => {
    const page = `
      import { connect, SwitchboardError, type Session } from 'switchboard-client';
      import type { SwitchboardWidgetElement } from 'switchboard-client/element';
      import { useSwitchboard, type UseSwitchboardOptions } from 'switchboard-client/react';
      export function useTalk(options: UseSwitchboardOptions): () => Promise<void> {
        const { session, state, media, error, warning, transcript, speaking, muted, levels, start, end, mute, send } = useSwitchboard({
          ...options,
          call: { reportUsage: ({ total_tokens }) => ({ tokens: total_tokens }) },
        });
        const held: Session | undefined = session;
        const words: string[] = transcript.map(({ who, text }) => who + text);
        mute(!muted);
        send(words.join(state === 'none' ? '' : media === 'lost' ? (error?.userMessage ?? '') : String(warning?.secondsLeft)));
        // @ts-expect-error: there is no such state
        void (state === 'nothing');
        console.log(levels.current.agent.toFixed(2), speaking.agent, held?.id, error instanceof SwitchboardError);
        return held === undefined ? start : end;
      }
      export const widget: SwitchboardWidgetElement = document.createElement('switchboard-widget');
      export const held: Session | undefined = widget.session;
      export const other: Promise<Session> = connect({ baseUrl: 'https://s.example', widgetKey: 'w_x' });
    `;
    const templateOf = (source: string): string => `/** @jsxImportSource ${source} */
      import type {} from 'switchboard-client/${source}';
      export const page = (<switchboard-widget widget-key="w_x" agent-id="support" theme="dark" open
        onswitchboard-ended={({ detail }) => console.log(detail.userMessage.length)} />);
      export const other = (
        // @ts-expect-error: there is no such theme
        <switchboard-widget theme="pink" />
      );`;
    // Looks the types up as the frameworks' template compilers do.
    const tags = `import type { GlobalComponents } from 'vue';
      import type { SvelteHTMLElements } from 'svelte/elements';
      import type {} from 'switchboard-client/vue';
      import type {} from 'switchboard-client/svelte';
      type Widget = InstanceType<GlobalComponents['switchboard-widget']>;
      export const inVue: Widget['$props'] = { 'widget-key': 'w_x', theme: 'dark' };
      export const emit = (widget: Widget, event: CustomEvent): void => widget.$emit('switchboard-ended', event);
      export const inSvelte: SvelteHTMLElements['switchboard-widget'] = {
        'widget-key': 'w_x',
        'onswitchboard-ended': ({ detail }) => console.log(detail.userMessage.length),
      };
      // @ts-expect-error: there is no such theme
      export const wrongInVue: Widget['$props'] = { theme: 'pink' };
      // @ts-expect-error: there is no such theme
      export const wrongInSvelte: SvelteHTMLElements['switchboard-widget'] = { theme: 'pink' };`;
    const files = {
      'page.mts': page,
      'react.tsx': templateOf('react'),
      'preact.tsx': templateOf('preact'),
      'tags.mts': tags,
    };

    beforeAll(async () => {
      for (const [name, text] of Object.entries(files)) await writeFile(join(project.folder, name), text);
    });

    test('for Node and bundlers that check strictly', async () => {
      expect(await compile(project.folder, ['--module', 'nodenext', 'page.mts'])).toBe('');
    });

    test('for bundlers, and for the tag, its attributes and its events in templates of React, Preact, Vue and Svelte', async () => {
      const bundled = ['--module', 'esnext', '--moduleResolution', 'bundler', '--jsx', 'react-jsx'];
      expect(await compile(project.folder, [...bundled, ...Object.keys(files)])).toBe('');
    });
  });
});

const strictest = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--noPropertyAccessFromIndexSignature',
];

/** The compiler's messages about a file under the strictest settings; empty if there are none. */
async function compile(folder: string, args: readonly string[]): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const settings = [
    ...strictest,
    '--noEmit',
    '--skipDefaultLibCheck',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom',
    '--types',
    '',
  ];
  return run(process.execPath, [compiler, ...settings, ...args], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  );
}
