import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder of this run, for files that outlive a test file. */
    readonly runDirectory: string;
  }
}

/** Sets up what all test files of a run share: created before the first one, removed after the last. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'switchboard-run-'));
  provide('runDirectory', directory);
  return () => rm(directory, { recursive: true, force: true });
}
