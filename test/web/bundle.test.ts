import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const read = (name: string): Promise<string> => readFile(join(built, name), 'utf8');

describe('The widget SDK as it is served', () => {
  test.each(['widget.mjs', 'widget.js'])('%s has at most 5 kB after gzip', async (name) => {
    expect(gzipSync(await read(name)).length).toBeLessThanOrEqual(5000);
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

  test('the published types compile by themselves and describe a first widget', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'switchboard-types-'));
    try {
      await writeFile(join(directory, 'widget.d.mts'), await read('widget.d.ts'));
      await writeFile(
        join(directory, 'page.mts'),
        `import { connect, SwitchboardError } from './widget.mjs';
         const session = await connect({ baseUrl: 'https://s.example', widgetKey: 'w_x', tools: [{ kind: 'http_tool', name: 'x' }] });
         session.on('warning', ({ reason, secondsLeft }) => console.log(reason === 'idle', secondsLeft?.toFixed()));
         const stop: () => void = session.on('ended', ({ userMessage }) => console.log(userMessage.length));
         // @ts-expect-error: there is no such event
         session.on('nothing', stop);
         const { tokens } = await session.reportUsage({ tokens: 1, dollars: 0.1 });
         const { peer } = await session.connectAudio({ reportUsage: ({ total_tokens }) => ({ tokens: total_tokens }) });
         console.log(tokens.toFixed(), peer.connectionState, new Error() instanceof SwitchboardError);`,
      );
      const settings = ['--strict', '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom'];
      execFileSync(process.execPath, [compiler, ...settings, '--types', '', 'page.mts'], { cwd: directory });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
