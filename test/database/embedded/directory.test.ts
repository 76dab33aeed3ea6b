import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EMBEDDED_MAJOR, makeDirectory, UnusableDirectory } from '../../../src/database/embedded/directory.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { template, temporaryDirectory } from '../support/places.ts';

describe('the data directory', () => {
  test('is made by initdb when the build made no template', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const database = await openEmbedded({ directory, template: new URL('file:///nowhere') });
    await database.ping();
    await database.close();
    expect(readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()).toBe(EMBEDDED_MAJOR);
  });

  test("that is copied from the build's template has the schema, and no row of an installation", async () => {
    const database = await openEmbedded({ directory: join(temporaryDirectory(), 'database') });
    expect(await migrate(database)).toEqual([]);
    const tables = await database.run(
      (sql) => sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = 'public'`,
    );
    const filled: string[] = [];
    for (const { name } of tables) {
      const rows = await database.run((sql) => sql`select from ${sql(name)} limit 1`);
      if (rows.length > 0) filled.push(name);
    }
    await database.close();
    expect(tables.length).toBeGreaterThan(20);
    expect(filled).toEqual(['schema_migration']);
  });

  test('is copied from a template that every user may read and only its owner may change', () => {
    const folder = fileURLToPath(template);
    const modes = ['.', ...readdirSync(folder, { encoding: 'utf8', recursive: true })].map((name) => {
      const found = statSync(join(folder, name));
      return `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`;
    });
    expect(new Set(modes)).toEqual(new Set(['folder 755', 'file 644']));
  });

  test('is made completely or not at all: what a crash left incomplete is thrown away', async () => {
    const directory = join(temporaryDirectory(), 'database');
    await mkdir(`${directory}.new/base`, { recursive: true });
    await writeFile(`${directory}.new/PG_VERSION`, 'half');
    const database = await openEmbedded({ directory });
    await database.ping();
    await database.close();
    expect(existsSync(`${directory}.new`)).toBe(false);
  });

  test('of another PostgreSQL is refused with advice, and left unlocked', async () => {
    const directory = join(temporaryDirectory(), 'database');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'PG_VERSION'), '16\n');
    await expect(openEmbedded({ directory })).rejects.toThrow(
      `was made by PostgreSQL 16, but this build embeds PostgreSQL ${EMBEDDED_MAJOR}: go back to the build that made it, or move`,
    );
    expect(existsSync(`${directory}.lock`)).toBe(false);
  });

  test('is made with its parents, accessible to this user only', async () => {
    const parent = join(temporaryDirectory(), 'data/of/a service');
    await makeDirectory(parent);
    await makeDirectory(parent);
    for (const path of [parent, dirname(parent)]) expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test.runIf(process.platform === 'linux')('is refused where its parent takes no directories', async () => {
    await expect(makeDirectory('/proc/x/y/z')).rejects.toThrow('/proc takes no directories: set another DATA_DIR');
    await expect(openEmbedded({ directory: '/proc/x/postgres' })).rejects.toThrow(UnusableDirectory);
  });

  test('is refused where a file has its name', async () => {
    const file = join(temporaryDirectory(), 'letter.txt');
    await writeFile(file, 'dear reader');
    await expect(makeDirectory(file)).rejects.toThrow('letter.txt is not a directory: set another DATA_DIR');
  });

  test('with other files in it is refused', async () => {
    const directory = join(temporaryDirectory(), 'database');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'letter.txt'), 'dear reader');
    await expect(openEmbedded({ directory })).rejects.toThrow('is not empty and holds no database');
  });

  test('that is damaged is an error, not a hang', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const database = await openEmbedded({ directory });
    await database.close();
    await writeFile(join(directory, 'global/pg_control'), 'damaged');
    await expect(openEmbedded({ directory })).rejects.toThrow('the embedded database');
  });
});
