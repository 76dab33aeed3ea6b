/** Runs `requireDescriptions` from the sources. It is bundled for this, because Node 20 does not read TypeScript. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @throws if a field, parameter or header of the interface has no description (src/site/reference/undescribed.ts) */
export async function checkDescriptions({ build }) {
  const { output } = await build({
    input: join(root, 'src/app/documents.ts'),
    platform: 'node',
    external: (id) => /^[^./]/.test(id) && !id.startsWith(root),
    write: false,
    output: { format: 'esm', codeSplitting: false },
  });
  // In dist/, so that it finds the packages that it imports.
  const file = join(root, `dist/documents-${process.pid}.mjs`);
  try {
    await writeFile(file, output[0].code);
    const { requireDescriptions } = await import(pathToFileURL(file).href);
    requireDescriptions();
  } finally {
    await rm(file, { force: true });
  }
}
