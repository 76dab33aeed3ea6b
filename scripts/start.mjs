/**
 * `npm start`: builds what changed, then runs the service in this process. Together with the script's `exec` this makes the service npm's own
 * child: a shell in between would not forward the signals that npm sends.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const build = fileURLToPath(new URL('build.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [build, '--if-stale'], { stdio: 'inherit' });
if (status !== 0) {
  process.exit(status ?? 1);
}
await import(new URL('../dist/main.js', import.meta.url));
