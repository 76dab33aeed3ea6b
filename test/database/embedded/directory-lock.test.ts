import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { lockDirectory } from '../../../src/database/embedded/directory-lock.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { bundleChild, runChild } from '../support/child.ts';
import { temporaryDirectory, template } from '../support/places.ts';

describe('the lock of a data directory', () => {
  let writer: string;
  /** A program that holds the lock without a database, which would take a second to open. */
  let lockHolder: string;
  beforeAll(async () => {
    [writer, lockHolder] = await Promise.all([bundleChild('writer'), bundleChild('holder')]);
  });

  test('refuses a second process and names the holder', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const holder = runChild(writer, directory, template.href);
    await holder.printed(/^open/);
    await expect(openEmbedded({ directory })).rejects.toThrow(`in use by process ${holder.process.pid}:`);
    const second = runChild(writer, directory, template.href);
    expect(await second.ended()).toBe(1);
    expect(second.errors()).toContain(`DirectoryInUse: the data directory ${directory} is in use by process`);
  });

  test('refuses a second process that is frozen out by a frozen holder', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const holder = runChild(lockHolder, directory);
    await holder.printed(/^open/);
    holder.process.kill('SIGSTOP');
    await expect(openEmbedded({ directory })).rejects.toThrow('in use by process (unknown)');
  });

  test('is free after kill -9 of the holder', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const holder = runChild(lockHolder, directory);
    await holder.printed(/^open/);
    await holder.kill();
    expect(existsSync(`${directory}.lock`)).toBe(true);
    const lock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toThrow(`in use by process ${process.pid}:`);
    await lock.release();
    expect(existsSync(`${directory}.lock`)).toBe(false);
  });

  test('leaves a file of its name alone that is not a socket', async () => {
    const directory = join(temporaryDirectory(), 'database');
    await writeFile(`${directory}.lock`, 'precious');
    await expect(lockDirectory(directory)).rejects.toThrow('database.lock is in the way: it is no socket');
    expect(await readFile(`${directory}.lock`, 'utf8')).toBe('precious');
  });

  test('has one winner when many want a dead lock at once', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const holder = runChild(lockHolder, directory);
    await holder.printed(/^open/);
    await holder.kill();
    const children = Array.from({ length: 4 }, () => runChild(lockHolder, directory));
    const outcomes = await Promise.all(
      children.map((child) =>
        Promise.race([
          child.printed(/^open/).then(
            () => 'open',
            () => 'refused',
          ),
          child.ended().then(() => 'refused'),
        ]),
      ),
    );
    expect(outcomes.sort()).toEqual(['open', 'refused', 'refused', 'refused']);
  });

  test('has one winner when many that saw it dead replace it, however slow each of them is', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const listens = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', listens, `${directory}.lock`]);
    expect(existsSync(`${directory}.lock`)).toBe(true);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockDirectory(directory)));
    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(winners).toHaveLength(1);
    await expect(lockDirectory(directory)).rejects.toThrow(`in use by process ${process.pid}:`);
    await winners[0]?.release();
    expect(readdirSync(dirname(directory))).toEqual([]);
  });

  test('works for a path that is too long for a socket, through a link, and for a directory with two paths', async () => {
    const root = temporaryDirectory();
    const deep = join(root, 'a-rather-long-name-of-a-folder/'.repeat(5));
    await mkdir(deep, { recursive: true });
    await symlink(deep, join(root, 'link'));
    const database = await openEmbedded({ directory: join(deep, 'database') });
    await expect(openEmbedded({ directory: join(root, 'link', 'database') })).rejects.toThrow('in use by process');
    await database.close();
    const again = await openEmbedded({ directory: join(root, 'link', 'database') });
    await again.close();
    expect(existsSync(join(deep, 'database.lock'))).toBe(false);
  });
});
