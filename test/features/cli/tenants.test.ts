import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lockDirectory } from '../../../src/database/embedded/directory-lock.ts';
import { run } from '../../../src/cli/tenants.ts';
import { fakeTerminal } from './terminal.ts';

describe('tenants add', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-tenants-'));
    file = join(folder, 'tenants.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('makes the file, and says what is served and what comes next', async () => {
    const terminal = fakeTerminal({ TENANTS_FILE: file });
    const args = ['add', '--id', 'acme', '--name', 'Acme', '--agent', 'support', '--agent', 'sales'];
    expect(await run(args, terminal)).toBe(0);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      tenants: [{ id: 'acme', name: 'Acme', widgetKeys: [], agents: [{ id: 'support' }, { id: 'sales' }] }],
    });
    expect(terminal.printed()).toContain(`Created ${file}: it now has the tenant acme.\n`);
    expect(terminal.printed()).toContain('without a restart');
    expect(terminal.printed()).toContain('keys issue --tenant acme');
  });

  test.each<[string[], number, string]>([
    [['--id', 'old'], 1, 'The file already has a tenant "old"; nothing was changed.\n'],
    [['--id', 'a b'], 1, 'id: must be 1 to 64 letters, digits, dots, hyphens and underscores\n'],
    [[], 64, '--id is missing\nUsage:\n'],
    [['--id', 'x', '--agents', 'a'], 64, "Unknown option '--agents'"],
  ])('with %j is refused in words', async (args, code, words) => {
    await writeFile(file, '{"tenants":[{"id":"old"}]}');
    const terminal = fakeTerminal({ TENANTS_FILE: file });
    expect(await run(['add', ...args], terminal)).toBe(code);
    expect(terminal.complained()).toContain(words);
    expect(await readFile(file, 'utf8')).toBe('{"tenants":[{"id":"old"}]}');
  });

  test('tells a file that is wrong, one that is busy and one that cannot be made', async () => {
    const refused = async (path: string): Promise<[number, string]> => {
      const terminal = fakeTerminal({ TENANTS_FILE: path });
      return [await run(['add', '--id', 'acme'], terminal), terminal.complained()];
    };
    expect(await refused(join(folder, 'none', 'tenants.json'))).toEqual([69, expect.stringContaining('ENOENT')]);
    await writeFile(file, '{}');
    expect(await refused(file)).toEqual([78, expect.stringContaining('tenants: is missing')]);
    const other = await lockDirectory(file);
    expect(await refused(file)).toEqual([69, 'Another command is writing the file; try again.\n']);
    await other.release();
  });

  test('changes no file that nobody named', async () => {
    const terminal = fakeTerminal();
    expect(await run(['add', '--id', 'acme'], terminal)).toBe(78);
    expect(terminal.complained()).toContain('Set TENANTS_FILE');
  });
});

test.each([
  [[], 'tenants needs a command'],
  [['drop'], 'tenants has no command "drop"'],
])('tenants %j teaches its usage', async (args, words) => {
  const terminal = fakeTerminal();
  expect(await run(args, terminal)).toBe(64);
  expect(terminal.complained()).toContain(words);
  expect(terminal.complained()).toContain('tenants add --id T');
});
