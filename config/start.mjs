/**
 * `npm start`: builds what changed, then runs the service in this very process. Together with the `exec` of the script, npm's own
 * child is the service: a shell between the two would keep the signals that npm passes on.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const build = fileURLToPath(new URL('build.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [build, '--if-stale'], { stdio: 'inherit' });
if (status !== 0) {
  process.exit(status ?? 1);
}
await import(new URL('../dist/main.js', import.meta.url));
