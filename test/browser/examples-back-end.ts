import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { serviceToken } from '../support/demo-server.ts';

export const backEnds = [
  ['Express', process.execPath, 'express.mjs', 'express'],
  ['Python', 'python3', 'server.py', 'python'],
] as const;

/** Runs a back end from the examples, unchanged. */
export async function startBackEnd(
  program: string,
  file: string,
  port: number,
  switchboard: string,
  key: string,
): Promise<{ readonly child: ChildProcess; readonly origin: string }> {
  const child = spawn(program, [fileURLToPath(new URL(`../../examples/back-end/${file}`, import.meta.url))], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      SWITCHBOARD_URL: switchboard,
      SWITCHBOARD_KEY: key,
      SWITCHBOARD_TOKEN: serviceToken,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  return { child, origin: `http://localhost:${port}` };
}
