import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { serverTool } from '../../../src/protocol/server-tool.ts';
import { outcomeOf } from '../../../src/calls/tools/tool-sender.ts';
import { bodyOf, headersOf, type ToolRequest } from '../../../src/calls/tools/tool-request.ts';
import { findBinary, reasonToSkip } from '../../support/services/binaries.ts';
import { freePort } from '../../support/services/server-process.ts';

type IsSigned = (headers: Readonly<Record<string, string>>, body: string, secret: string) => boolean;

const document = readFileSync('docs/tools.md', 'utf8');
const [ours, former, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
  string,
  string,
  string,
];

function snippets(language: string): readonly string[] {
  return [...document.matchAll(new RegExp('```' + language + '\n(.*?)```', 'gs'))].map(([, code = '']) => code);
}

function snippet(language: string): string {
  return snippets(language)[0] ?? '';
}

const request: ToolRequest = {
  toolCallId: 'call_1',
  tool: serverTool.parse(JSON.parse(snippet('json'))),
  arguments: { order: 'Ü17' },
  context: {
    session: { ref: 's:1', tenantId: 'acme', agentId: null, agentVersion: null, subject: 'x', metadata: {} },
    call: { ref: 'call_2' },
  },
  traceparent: undefined,
  sealed: null,
};

let isSigned: IsSigned;

beforeAll(async () => {
  const url = `data:text/javascript;base64,${Buffer.from(snippet('js')).toString('base64')}`;
  ({ isSigned } = (await import(/* @vite-ignore */ url)) as { isSigned: IsSigned });
});

test('The snippet of tools.md accepts what Switchboard has signed, with either secret while there are two', () => {
  const at = Date.now();
  const body = bodyOf(request, {}, at);
  const headers = headersOf(request, body, [ours, former], new Map([['crm', 'value']]), at);
  expect(headers['authorization']).toBe('Bearer value');
  for (const secret of [ours, former]) expect(isSigned(headers, body, secret)).toBe(true);
  expect(isSigned(headers, body, other)).toBe(false);
  expect(isSigned(headers, body.replace('Ü17', 'Ü18'), ours)).toBe(false);
  expect(isSigned({ ...headers, 'webhook-id': 'call_3' }, body, ours)).toBe(false);
  expect(isSigned({}, body, ours)).toBe(false);
});

test('The snippet of tools.md accepts nothing older than five minutes', () => {
  const at = Date.now();
  const body = bodyOf(request, {}, at);
  const headers = headersOf(request, body, [ours], new Map(), at);
  vi.useFakeTimers({ now: at + 301_000 });
  expect(isSigned(headers, body, ours)).toBe(false);
  vi.useRealTimers();
});

const folder = mkdtempSync(join(tmpdir(), 'switchboard-tool-'));
let server: ChildProcess | undefined;

afterEach(async () => {
  const stopping = server;
  server = undefined;
  if (stopping === undefined || stopping.exitCode !== null) return;
  const stopped = once(stopping, 'exit');
  stopping.kill();
  await stopped;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a tool's server from the document unchanged, and waits until it listens. @returns its address */
async function run(program: string, args: readonly string[]): Promise<string> {
  const port = await freePort();
  server = spawn(program, args, {
    env: { PATH: process.env['PATH'], PORT: String(port), SIGNING_SECRET: ours },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await Promise.race([
    once(server.stdout as NonNullable<typeof server.stdout>, 'data'),
    once(server, 'exit'),
  ])) as unknown[];
  expect(String(said)).toMatch(/^Listening/);
  return `http://127.0.0.1:${port}/`;
}

async function ask(url: string, name: string, secret: string): Promise<readonly [status: number, reply: unknown]> {
  const at = Date.now();
  const asked = { ...request, tool: { ...request.tool, name } };
  const body = bodyOf(asked, {}, at);
  const headers = headersOf(asked, body, [secret], new Map([['crm', 'value']]), at);
  const reply = await fetch(url, { method: 'POST', headers, body });
  return [reply.status, reply.status === 200 ? await reply.json() : undefined];
}

test('The server of tools.md runs unchanged, and answers only Switchboard', async () => {
  const file = join(folder, 'tool.mjs');
  writeFileSync(file, snippets('js').join('\n'));
  const url = await run(process.execPath, [file]);
  expect(await ask(url, 'lookup_order', ours)).toEqual([200, { order: 'Ü17', state: 'shipped' }]);
  expect(await ask(url, 'lookup_order', other)).toEqual([401, undefined]);
});

const skipped = reasonToSkip(() => findBinary('python3', 'python3'));

test.skipIf(skipped !== undefined)(
  `examples/back-end/tool.py runs as it stands, answers nobody but Switchboard, and ends the session ${skipped ?? ''}`,
  async () => {
    const url = await run('python3', ['examples/back-end/tool.py']);
    expect(await ask(url, 'lookup_order', other)).toEqual([401, undefined]);
    expect(await ask(url, 'lookup_order', ours)).toEqual([200, { order: 'Ü17', state: 'shipped' }]);
    const [, reply] = await ask(url, 'close_order', ours);
    expect(
      outcomeOf({ status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(reply)) }),
    ).toMatchObject({
      output: JSON.stringify({ order: 'Ü17', state: 'closed' }),
      endReason: 'order_closed',
    });
    expect(await ask(url, 'lookup_order', ours)).toEqual([200, { order: 'Ü17', state: 'closed' }]);
    const unsigned = await fetch(url, { method: 'POST', body: '{}' });
    expect(unsigned.status).toBe(401);
  },
);
