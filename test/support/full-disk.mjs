/**
 * Preloaded into a server (`--import`): while the file named by FULL_DISK exists, the disk of its embedded database is full. Files cannot
 * grow; where the file says "all", not a byte can be written, as when the write-ahead log finds no room.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const flag = process.env['FULL_DISK'] ?? '';
const { writeSync, existsSync, fstatSync, readFileSync, statfsSync } = fs;

function isFull(fd, length, position) {
  if (!existsSync(flag)) return false;
  return readFileSync(flag, 'utf8') === 'all' || (position ?? 0) + length > fstatSync(fd).size;
}

if (!isMainThread)
  fs.writeSync = (fd, buffer, offset, length, position) => {
    if (fd > 2 && isFull(fd, length, position))
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
        code: 'ENOSPC',
        errno: -28,
        syscall: 'write',
      });
    return writeSync(fd, buffer, offset, length, position);
  };

fs.statfsSync = (path) => Object.assign(statfsSync(path), existsSync(flag) && { bavail: 0 });
syncBuiltinESMExports();
