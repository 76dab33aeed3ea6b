import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EMBEDDED_MAJOR } from '../../../src/database/embedded/directory.ts';
import { openEmbedded } from '../../../src/database/embedded/embedded.ts';
import { unpackTar } from '../../../src/database/embedded/tar.ts';
import { temporaryDirectory } from '../support/places.ts';

describe('the data directory', () => {
  test('is made by initdb when the build made no template', async () => {
    const directory = join(temporaryDirectory(), 'database');
    const database = await openEmbedded({ directory, template: new URL('file:///nowhere') });
    await database.ping();
    await database.close();
    expect(readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()).toBe(EMBEDDED_MAJOR);
  });

  test('is made whole or not at all: what a crash left half made is thrown away', async () => {
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

  test('cannot be left by an entry of an archive', async () => {
    const directory = temporaryDirectory();
    const header = Buffer.alloc(1024);
    header.write('../../escaped', 0);
    header.write('00000000003\0', 124);
    header.write('0', 156);
    header.write('abc', 512);
    await unpackTar([header], directory);
    expect(readFileSync(join(directory, 'escaped'), 'utf8')).toBe('abc');
  });

  test.each([1, 7, 511, 512, 513, 5000])('is the same when its archive comes in pieces of %i bytes', async (size) => {
    const directory = temporaryDirectory();
    const content = Buffer.alloc(1300, 'abc');
    const archive = Buffer.concat([
      entry('folder', '5', Buffer.alloc(0)),
      entry('folder/empty', '0', Buffer.alloc(0)),
      entry('folder/full', '0', content),
      entry('block', '0', content.subarray(0, 512)),
      Buffer.alloc(1024),
    ]);
    const pieces = Array.from({ length: Math.ceil(archive.length / size) }, (_, i) =>
      archive.subarray(i * size, (i + 1) * size),
    );
    await unpackTar(pieces, directory);
    expect(readFileSync(join(directory, 'folder/empty'))).toHaveLength(0);
    expect(readFileSync(join(directory, 'folder/full')).equals(content)).toBe(true);
    expect(readFileSync(join(directory, 'block')).equals(content.subarray(0, 512))).toBe(true);
  });
});

/** One entry of a tar archive: its header, and its content filled up to whole blocks. */
function entry(name: string, type: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
