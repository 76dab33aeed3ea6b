/** Runs `requireDescriptions` of the sources, bundled for the moment: Node 20 reads no TypeScript. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @throws where a field, a parameter or a header of the interface does not say what it is (src/site/reference/undescribed.ts) */
export async function checkDescriptions({ build }) {
  const { output } = await build({
    input: join(root, 'src/app/documents.ts'),
    platform: 'node',
    external: (id) => /^[^./]/.test(id) && !id.startsWith(root),
    write: false,
    output: { format: 'esm', codeSplitting: false },
  });
  // Beside the packages that it imports.
  const file = join(root, `dist/documents-${process.pid}.mjs`);
  try {
    await writeFile(file, output[0].code);
    const { requireDescriptions } = await import(pathToFileURL(file).href);
    requireDescriptions();
  } finally {
    await rm(file, { force: true });
  }
}
