import type { AltchaChallenge } from '../../../protocol/challenge.ts';
import { findNumber } from './find-number.ts';

/** How many numbers are tried before the page may draw again, if no worker may run. */
const AT_ONCE = 2000;

/** Solves a proof of work in a worker, or in slices on the main thread if the page's policy forbids workers (`worker-src blob:`). */
export async function work({ algorithm, challenge, maxnumber, salt, signature }: AltchaChallenge): Promise<string> {
  const find = findInWorker(salt, challenge, maxnumber).catch(() => findInTurns(salt, challenge, maxnumber));
  return btoa(JSON.stringify({ algorithm, challenge, number: await find, salt, signature }));
}

function findInWorker(salt: string, challenge: string, most: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const code = `postMessage((${String(findNumber)})(...${JSON.stringify([salt, challenge, 0, most])}))`;
    const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    const worker = new Worker(url);
    const end = (): void => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
    worker.addEventListener('message', ({ data }: MessageEvent<number | undefined>) => {
      end();
      resolve(data);
    });
    worker.addEventListener('error', () => {
      end();
      reject(new Error('no worker'));
    });
  });
}

async function findInTurns(salt: string, challenge: string, most: number): Promise<number | undefined> {
  for (let from = 0; from <= most; from += AT_ONCE) {
    const found = findNumber(salt, challenge, from, Math.min(most, from + AT_ONCE - 1));
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve));
  }
  return undefined;
}
