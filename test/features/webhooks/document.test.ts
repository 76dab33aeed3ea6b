import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { signedHeaders } from '../../../src/kernel/webhook-signature.ts';
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
  const stopping = server;
  server = undefined;
  if (stopping === undefined || stopping.exitCode !== null) return;
  const stopped = once(stopping, 'exit');
  stopping.kill();
  await stopped;
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the document's first code block in a language to a file. @returns its path */
function snippetFile(language: string, name: string): string {
  const [, code = ''] = new RegExp('```' + language + '\n(.*?)```', 's').exec(document) ?? [];
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

/** Runs a receiver unchanged, and waits until it listens. @returns its address */
async function run(program: string, file: string): Promise<string> {
  const port = await freePort();
  said = '';
  server = spawn(program, [file], {
    env: { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: ours },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server.stdout?.on('data', (text: Buffer) => (said += text.toString()));
  await expect.poll(() => said, { timeout: PATIENT_MS }).toMatch(/^Listening\n/);
  return `http://127.0.0.1:${port}/`;
}

const body = JSON.stringify({
  type: 'session.settled',
  timestamp: '2030-01-01T12:00:00.000Z',
  data: { ref: 's:ü', usage: { dollars: '0.012345' } },
});

async function tell(url: string, id: string, secrets: readonly string[], text = body, atMs = Date.now()) {
  const headers = signedHeaders(id, body, secrets, atMs);
  return (await fetch(url, { method: 'POST', headers, body: text })).status;
}

async function takesWhatIsSigned(url: string): Promise<void> {
  expect(await tell(url, 'evt_1', [ours])).toBe(204);
  expect(await tell(url, 'evt_1', [ours])).toBe(204);
  expect(await tell(url, 'evt_2', [former, ours])).toBe(204);
  expect(await tell(url, 'evt_3', [other])).toBe(401);
  expect(await tell(url, 'evt_3', [ours], body.replace('0.012345', '9.012345'))).toBe(401);
  expect(await tell(url, 'evt_3', [ours], body, Date.now() - 400_000)).toBe(401);
  expect((await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status).toBe(
    401,
  );
  await expect.poll(() => said, { timeout: PATIENT_MS }).toBe('Listening\n' + 's:ü cost $0.012345\n'.repeat(2));
}

test('The receiver of webhooks.md for Express runs as it stands, and takes each event once', async () => {
  await takesWhatIsSigned(await run(process.execPath, snippetFile('js', 'receiver.mjs')));
});

const skipped = reasonToSkip(() => [findBinary('python3', 'python3')]);

test.skipIf(skipped !== undefined)('The receiver of webhooks.md in Python does the same', async () => {
  await takesWhatIsSigned(await run('python3', snippetFile('python', 'receiver.py')));
});
