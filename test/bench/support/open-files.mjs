import { execFileSync } from 'node:child_process';

class TooFewOpenFiles extends Error {
  name = 'TooFewOpenFiles';
}

/**
 * Checks the hard limit, because Node raises its soft limit to it by itself.
 * @throws TooFewOpenFiles when one process may not hold this many sockets
 */
export function checkOpenFiles(sockets) {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  if (limit !== 'unlimited' && Number(limit) < sockets + 200)
    throw new TooFewOpenFiles(
      `At most ${limit} open files: run \`ulimit -Hn ${sockets + 1000}\` as root, or hold fewer sockets.`,
    );
}
