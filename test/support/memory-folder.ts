import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
/** Several times the space that the databases of a whole run take. */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * A folder of the system that is kept in memory, for temporary files: tests copy a hundred databases of 25 MB each, which on a disk
 * takes a quarter of their time. Undefined where there is none, where it is small (as in a container), or where files in it cannot be run.
 */
export function memoryFolder(): string | undefined {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, folder]) => folder === FOLDER);
    const { bavail, bsize } = statfsSync(FOLDER);
    const isFit = mount?.[2] === 'tmpfs' && !mount[3]?.split(',').includes('noexec') && bavail * bsize > NEEDED_BYTES;
    return isFit ? FOLDER : undefined;
  } catch {
    return undefined;
  }
}
