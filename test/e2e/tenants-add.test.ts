import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { soon } from '../support/soon.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test('A tenant can be added after an earlier command was killed while writing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-tenants-'));
  const TENANTS_FILE = join(folder, 'tenants.json');
  // Reading this file never ends.
  execFileSync('mkfifo', [TENANTS_FILE]);
  const killed = spawn(process.execPath, [main, 'tenants', 'add', '--id', 'lost'], { env: { TENANTS_FILE } });
  await vi.waitFor(() => expect(existsSync(`${TENANTS_FILE}.new`)).toBe(true), soon);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await rm(TENANTS_FILE);
  await writeFile(TENANTS_FILE, '{ "tenants": [] }');

  const added = execFileSync(process.execPath, [main, 'tenants', 'add', '--id', 'acme'], { env: { TENANTS_FILE } });
  expect(String(added)).toContain(`Its incomplete file was deleted: ${TENANTS_FILE}.new`);
  expect(JSON.parse(await readFile(TENANTS_FILE, 'utf8'))).toMatchObject({ tenants: [{ id: 'acme' }] });
  expect(await readdir(folder)).toEqual(['tenants.json']);
  await rm(folder, { recursive: true });
});
