import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const BLOCK = 512;
const DIRECTORY = '5';

/**
 * Unpacks a tar archive of plain files and directories (what PGlite's dumpDataDir writes) into `target`, for its owner only.
 *
 * @throws RangeError when an entry would leave `target`.
 */
export function unpackTar(archive: Buffer, target: string): void {
  let at = 0;
  while (at + BLOCK <= archive.length && archive[at] !== 0) {
    const header = archive.subarray(at, at + BLOCK);
    const size = parseInt(text(header, 124, 12), 8) || 0;
    const name = normalize(join('/', text(header, 345, 155), text(header, 0, 100)));
    const path = join(target, name);
    if (text(header, 156, 1) === DIRECTORY) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } else {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, archive.subarray(at + BLOCK, at + BLOCK + size), { mode: 0o600 });
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function text(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end).trim();
}
