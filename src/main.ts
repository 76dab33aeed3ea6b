import { ConfigError } from '../config/env.ts';
import { serve } from './cli/serve.ts';

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function run(): Promise<number> {
  return serve(process.env, print);
}

try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : (error as Error).stack}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
process.exit();
