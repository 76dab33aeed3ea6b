import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ReplyBody } from '../support/client.ts';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { soon } from '../support/soon.ts';
import { runToEnd, Switchboard } from '../support/switchboard.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const manual = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const skipped = reasonToSkip(() => ['curl', 'bash'].map((name) => findBinary(name, name)));

function chapterOf(document: string, title: string): string {
  return document.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
}

/** The shell commands of a chapter, in order. */
function commandsOf(chapter: string): string {
  return [...chapter.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1] ?? '').join('\n');
}

describe.skipIf(skipped)('The first session of the README', () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-readme-'));
  let server: Switchboard;

  beforeAll(async () => {
    server = await Switchboard.start({ DATA_DIR: join(directory, 'data') });
  });

  afterAll(async () => {
    await server.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  test('works as written, on a development machine without any settings', async () => {
    const script = commandsOf(chapterOf(readme, 'A first session'))
      .replaceAll('http://localhost:3000', server.origin)
      .replace(/^CODE=000000 .*$/m, 'read -r CODE');
    expect(script).toContain('read -r CODE');
    const run = promisify(execFile)('bash', ['-eu', '-c', script], { cwd: directory });
    const code = vi.waitUntil(() => /Mail to you@example\.com: (\d{6})/.exec(server.output.stdout)?.[1], soon);
    run.child.stdin?.end(`${await code}\n`);

    const { stdout } = await run;
    const replies = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ReplyBody);
    expect(replies).toMatchObject([
      {
        id: expect.stringMatching(/^sess_/),
        client_secret: { value: expect.stringMatching(/^ek_sb_/) },
        call: { mode: 'brokered' },
      },
      { ok: true, session: { active: true, idleSec: 0 } },
      { ok: true, usage: { tokens: 1200, dollars: 0.02 } },
      { ok: true, session: { active: false } },
      { code: 'SESSION_DURATION_EXCEEDED', reason: 'closed_by_client' },
      { ok: true, expiresIn: 600 },
      { ok: true, session: { email: 'you@example.com' } },
      { ok: true, email: 'you@example.com' },
      { byState: { engaged: 0, idle: 0, stale: 0, ended: 1 } },
      { sessions: [{ state: 'ended', endReason: 'closed_by_client' }] },
      { ok: true },
    ]);
  });

  test('is also what the chart’s helm test does, and it says which request fails', async () => {
    const script = readFileSync(new URL('../../charts/switchboard/files/test.mjs', import.meta.url), 'utf8');
    const ask = (own: string): Promise<{ readonly stdout: string }> =>
      promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
        env: { SERVICE: server.origin, OWN: own },
      });
    expect((await ask(server.origin)).stdout).toBe('The service is ready, and the image opens and ends a session.\n');
    await expect(ask(`${server.origin}/nowhere`)).rejects.toMatchObject({
      stderr: expect.stringContaining('/nowhere/api/session answered 404'),
    });
  });
});

describe('The key commands of docs/operations.md', () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-keys-'));
  const chapter = chapterOf(manual, 'Tenants and widget keys');
  const settings = { DATA_DIR: join(directory, 'data'), TENANTS_FILE: join(directory, 'tenants.json') };

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('accept the example of a tenants file unchanged', async () => {
    const file = join(directory, 'example.json');
    writeFileSync(file, /^```json\n([^]*?)^```$/m.exec(chapter)?.[1] ?? '');
    const command = ['keys', 'issue', '--tenant', 'acme', '--site', 'more', '--origin', 'https://more.acme.example'];
    const given = { DATA_DIR: join(directory, 'other-data'), TENANTS_FILE: file };
    const { code, stdout, stderr } = await runToEnd(command, given);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('acme/acme-more');
  });

  test('work in order in an empty folder, before any start', async () => {
    const commands = [...commandsOf(chapter).matchAll(/^npm start -- (.*)$/gm)].map(([, command = '']) =>
      [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    );
    expect(commands.map(([, command]) => command)).toEqual(['add', 'issue', 'list', 'pause', 'resume', 'revoke']);
    const printed: string[] = [];
    for (const command of commands) {
      const { code, stdout, stderr } = await runToEnd(command, settings);
      expect([code, stderr], command.join(' ')).toEqual([0, '']);
      printed.push(stdout);
    }
    expect(printed).toEqual([
      expect.stringContaining('acme'),
      expect.stringContaining('acme/acme-shop'),
      expect.stringContaining('acme/acme-shop'),
      expect.stringMatching(/acme\/acme-shop[^]*paused/),
      expect.stringContaining('acme/acme-shop'),
      expect.stringMatching(/acme\/acme-shop[^]*revoked/),
    ]);
  });
});
