/** Locks the directory of the first argument, prints `open`, and keeps the lock until its input ends. */
import { lockDirectory } from '../../../src/database/embedded/directory-lock.ts';

const [directory = ''] = process.argv.slice(2);
process.stdin.once('end', () => process.exit()).resume();

try {
  await lockDirectory(directory);
  console.log('open');
} catch (error) {
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
  process.exit(1);
}
