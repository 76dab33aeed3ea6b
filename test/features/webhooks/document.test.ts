import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { signedHeaders } from '../../../src/webhooks/signature.ts';
import { findBinary, reasonToSkip } from '../../support/services/binaries.ts';
import { PATIENT_MS } from '../../support/soon.ts';
import { freePort } from '../../support/services/server-process.ts';

const document = readFileSync('docs/webhooks.md', 'utf8');
const [ours, former, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
  string,
  string,
  string,
];
const folder = mkdtempSync(join(tmpdir(), 'switchboard-receiver-'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
let server: ChildProcess | undefined;
let said = '';

afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  const stopping = server;
  server = undefined;
  if (stopping === undefined || stopping.exitCode !== null) return;
  const stopped = once(stopping, 'exit');
  stopping.kill();
  await stopped;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the code block that comes next after some words of the document to a file. @returns its path */
function snippetFile(after: string, name: string): string {
  const from = document.indexOf(after);
  expect(from).toBeGreaterThan(0);
  const [, code = ''] = /```(?:js|python)\n(.*?)```/s.exec(document.slice(from)) ?? [];
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

/** Runs a receiver unchanged, and waits until it listens. @returns its address */
async function run(program: string, file: string): Promise<string> {
  const port = await freePort();
  said = '';
  let logged = '';
  server = spawn(program, [file], {
    env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: ours },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  server.stdout?.on('data', (text: Buffer) => (said += text.toString()));
  server.stderr?.on('data', (text: Buffer) => (logged += text.toString()));
  await expect.poll(() => said + logged, { timeout: PATIENT_MS }).toMatch(/^Listening$|Uvicorn running/m);
  return `http://127.0.0.1:${port}/`;
}

const body = JSON.stringify({
  type: 'session.settled',
  timestamp: '2030-01-01T12:00:00.000Z',
  data: { ref: 's:ü', usage: { dollars: '0.012345' } },
});

/** Sends a body with headers to a receiver. @returns the status that it answers */
type Post = (headers: Readonly<Record<string, string>>, body: string) => Promise<number>;

const to =
  (url: string): Post =>
  async (headers, text) =>
    (await fetch(url, { method: 'POST', headers, body: text })).status;

async function takesWhatIsSigned(post: Post): Promise<void> {
  const tell = (id: string, secrets: readonly string[], text = body, atMs = Date.now()) =>
    post(signedHeaders(id, body, secrets, atMs), text);
  expect(await tell('evt_1', [ours])).toBe(204);
  expect(await tell('evt_1', [ours])).toBe(204);
  expect(await tell('evt_2', [former, ours])).toBe(204);
  expect(await tell('evt_3', [other])).toBe(401);
  expect(await tell('evt_3', [ours], body.replace('0.012345', '9.012345'))).toBe(401);
  expect(await tell('evt_3', [ours], body, Date.now() - 400_000)).toBe(401);
  expect(await post({ 'content-type': 'application/json' }, body)).toBe(401);
  const lines = () => said.split('\n').filter((line) => line.includes(' cost '));
  await expect.poll(lines, { timeout: PATIENT_MS }).toEqual(['s:ü cost $0.012345', 's:ü cost $0.012345']);
}

test('What is signed has the signature with which the libraries of Standard Webhooks, in all languages, test themselves', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const headers = signedHeaders('msg_p5jXN8AQM9LWM0D4loKWxJek', '{"test": 2432232314}', [secret], 1_614_265_330_000);
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

test('The receiver of webhooks.md for Express runs as it stands, and takes each event once', async () => {
  await takesWhatIsSigned(to(await run(process.execPath, snippetFile('### Express', 'receiver.mjs'))));
});

test('The function of webhooks.md for AWS Lambda does the same, with bodies as text and as base64', async () => {
  vi.stubEnv('WEBHOOK_SECRET', ours);
  said = '';
  vi.spyOn(console, 'log').mockImplementation((line: string) => (said += `${line}\n`));
  const url = pathToFileURL(snippetFile('### AWS Lambda', 'function.mjs')).href;
  const { handler } = (await import(/* @vite-ignore */ url)) as {
    handler: (event: object) => Promise<{ statusCode: number }>;
  };
  let isBase64Encoded = false;
  await takesWhatIsSigned(async (headers, text) => {
    isBase64Encoded = !isBase64Encoded;
    const sent = isBase64Encoded ? Buffer.from(text).toString('base64') : text;
    return (await handler({ version: '2.0', headers, body: sent, isBase64Encoded })).statusCode;
  });
  expect(await handler({ version: '2.0', headers: {}, isBase64Encoded: false })).toEqual({ statusCode: 401 });
});

// Debian installs the packages of Python for its own, which need not be the first in PATH.
const python = () => findBinary('python3', 'python3', ['/usr/bin']);
const findModule = (name: string): string => findBinary(name, `python3-${name}`, ['/usr/lib/python3/dist-packages']);
const skipped = reasonToSkip(() => [python(), findModule('fastapi'), findModule('uvicorn')]);

describe.skipIf(skipped !== undefined)(`In Python ${skipped ?? ''}`, () => {
  test.each([
    ['for FastAPI', 'With [FastAPI]', 'fast.py'],
    ['with nothing but Python', 'With nothing but Python:', 'plain.py'],
  ])('the receiver of webhooks.md %s does the same', async (_, after, name) => {
    snippetFile('### Python', 'signed.py');
    await takesWhatIsSigned(to(await run(python(), snippetFile(after, name))));
  });
});
