import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The template that the build makes; tests of the sources use it, too. */
export const template = new URL('../../../dist/pglite-template/', import.meta.url);

/** An empty directory of this file or test, to be removed by its caller. */
export function makeDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** An empty directory that goes with the test. */
export function temporaryDirectory(): string {
  const { path, remove } = makeDirectory();
  onTestFinished(remove);
  return path;
}
