import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Database } from '../../../src/database/database.ts';
import { migrate } from '../../../src/database/migrate.ts';

const migrations = new URL('../../../src/database/migrations/', import.meta.url);

/** Gives an empty database the schema from before the migration with this number (`019`), so that a test can write what an older build wrote. */
export async function migrateBefore(database: Database, number: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'switchboard-migrations-'));
  try {
    const older = (await readdir(migrations)).filter((name) => name < number);
    for (const name of older) await copyFile(new URL(name, migrations), join(directory, name));
    await migrate(database, pathToFileURL(`${directory}/`));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
