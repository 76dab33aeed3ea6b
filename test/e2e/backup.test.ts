import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ReplyBody } from '../support/client.ts';
import { bash, commandsOf } from '../support/manual.ts';
import { findBinary, postgresFolders, reasonToSkip } from '../support/services/binaries.ts';
import { neededDatabase, type FreshDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { Switchboard } from '../support/switchboard.ts';

const [copy = '', dump = '', readDump = ''] = commandsOf('docs/backup.md');
const [putBack = '', restore = '', check = ''] = commandsOf('docs/restore.md');
const TOKEN = 'a-token-of-a-back-end-of-ours';

let server: Switchboard | undefined;
let directory: string;
const databases: FreshDatabase[] = [];

afterEach(async () => {
  await server?.end('SIGKILL');
  for (const database of databases.splice(0)) await database.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function post(path: string, body: object): Promise<ReplyBody> {
  const origin = server?.origin ?? '';
  const headers = { 'Content-Type': 'application/json', Origin: origin };
  return (
    await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  ).json() as Promise<ReplyBody>;
}

const open = () => post('/api/session', { widgetKey: `w_demo_local_${'0'.repeat(32)}`, agentId: 'guide' });
const report = ({ sm_session_id }: ReplyBody, tokens: number) =>
  post('/api/auth/usage', { sm_session_id, tokens, dollars: 0 });

/** Checks that what preceded the backup is there again, and that what came after it is not. */
async function isAsBefore(before: ReplyBody, after: ReplyBody): Promise<void> {
  expect(await report(before, 1)).toMatchObject({ usage: { tokens: 6 } });
  expect(await post('/api/realtime/heartbeat', { sm_session_id: after.sm_session_id })).toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
}

test('A copy of the embedded storage, made and restored as docs/backup.md and docs/restore.md say, brings back what was there', async () => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-backup-'));
  const env = { DATA_DIR: join(directory, 'data'), PORT: '0' };
  server = await Switchboard.start(env);
  const before = await open();
  await report(before, 5);
  await server.end('SIGTERM');
  await bash(copy, directory, env);
  // A second copy must fail, not land inside the first, where nobody would find it.
  await expect(bash(copy, directory, env)).rejects.toThrow(/File exists/);
  server = await Switchboard.start(env);
  const after = await open();
  await report(after, 7);
  await server.end('SIGTERM');
  await bash(putBack, directory, env);
  server = await Switchboard.start(env);
  await isAsBefore(before, after);
});

const skipped = reasonToSkipPostgres() ?? reasonToSkip(() => findBinary('pg_dump', 'postgresql', postgresFolders()));

describe.skipIf(skipped !== undefined)(`A dump of PostgreSQL ${skipped ?? ''}`, () => {
  test('made while the service runs and restored as docs/backup.md and docs/restore.md say, brings back what was there', async () => {
    directory = mkdtempSync(join(tmpdir(), 'switchboard-backup-'));
    const [first, second] = [await neededDatabase(), await neededDatabase()];
    databases.push(first, second);
    const env = { DATABASE_URL: first.url, RESTORED_URL: second.url };
    server = await Switchboard.start({ DATABASE_URL: first.url });
    const before = await open();
    await report(before, 5);
    await bash(dump + readDump, directory, env);
    const after = await open();
    await report(after, 7);
    await server.end('SIGTERM');
    await bash(restore, directory, env);
    server = await Switchboard.start({ DATABASE_URL: second.url, SERVICE_TOKENS: TOKEN });
    const told = await bash(check, directory, { BASE: server.origin, TOKEN });
    expect(told).toContain('w_demo_local_');
    await isAsBefore(before, after);
  });
});
