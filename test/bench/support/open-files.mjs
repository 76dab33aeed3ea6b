import { execFileSync } from 'node:child_process';

class TooFewOpenFiles extends Error {
  name = 'TooFewOpenFiles';
}

/**
 * Node raises its soft limit to the hard one by itself, so the hard one counts.
 * @throws TooFewOpenFiles where one process may not hold so many sockets
 */
export function checkOpenFiles(sockets) {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  if (limit !== 'unlimited' && Number(limit) < sockets + 200)
    throw new TooFewOpenFiles(
      `At most ${limit} open files: run \`ulimit -Hn ${sockets + 1000}\` as root, or hold fewer sockets.`,
    );
}
