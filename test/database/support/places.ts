import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The template that the build makes; tests that run from the sources use it, too. */
export const template = new URL('../../../dist/pglite-template/', import.meta.url);

/** An empty directory for a file or a test; the caller removes it. */
export function makeDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** An empty directory that is removed after the test. */
export function temporaryDirectory(): string {
  const { path, remove } = makeDirectory();
  onTestFinished(remove);
  return path;
}
