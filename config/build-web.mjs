/** What browsers get that is made by Vite: the widget SDK and the demo page. */
import { cp, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'src/web');
const out = join(root, 'dist/web');

/** Dated by the start of the last build that went to its end. */
export const stamp = join(out, '.built');

/** The demo page loads the served SDK instead of bundling it: it runs what a widget developer gets. */
const servedSdk = {
  name: 'served-sdk',
  enforce: 'pre',
  resolveId: (source) => (source === '../widget/main.ts' ? { id: '/widget.mjs', external: 'absolute' } : null),
};

/** Bundles one entry; the output directory belongs to several. */
function bundle({ build }, input, output, plugins = []) {
  return build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins,
    build: {
      outDir: out,
      emptyOutDir: false,
      target: 'es2022',
      modulePreload: false,
      cssCodeSplit: true,
      assetsInlineLimit: 0,
      rolldownOptions: { input, output, preserveEntrySignatures: 'strict' },
    },
  });
}

/**
 * The published types are files without imports: the module's, and the same with the global that the plain script defines. What
 * api.ts takes from the protocol is written out.
 */
async function publishTypes({ runnerImport }) {
  const { module } = await runnerImport(join(root, 'src/protocol/published-types.ts'), { root, configFile: false });
  const types = (await readFile(join(web, 'widget/api.ts'), 'utf8'))
    .replaceAll(/^import type [^;]*;\n\n?/gm, '')
    .replace(/^export type \{[^}]*\};\n/m, () => module.publishedTypes());
  const names = [...types.matchAll(/^export (?:declare )?(?:class|function|interface|type) (\w+)/gm)].map(
    ([, name]) => name,
  );
  const global = `\ndeclare global {\n  namespace Switchboard {\n    export { ${names.join(', ')} };\n  }\n}\n`;
  await writeFile(join(out, 'widget.d.mts'), types);
  await writeFile(join(out, 'widget.d.ts'), types + global);
}

/** @param {Date} startedAt dates the stamp, so that a change during the build makes it stale */
export async function buildWithVite(startedAt) {
  const vite = await import('vite');
  await bundle(vite, join(web, 'widget/main.ts'), [
    { format: 'es', entryFileNames: 'widget.mjs' },
    { format: 'iife', name: 'Switchboard', entryFileNames: 'widget.js', generatedCode: { symbols: false } },
  ]);
  await bundle(
    vite,
    { demo: join(web, 'demo/main.ts') },
    { format: 'es', entryFileNames: 'demo/[name].js', assetFileNames: 'demo/[name][extname]' },
    [servedSdk],
  );
  await cp(join(web, 'demo/index.html'), join(out, 'demo/index.html'));
  await publishTypes(vite);
  await writeFile(stamp, '');
  await utimes(stamp, startedAt, startedAt);
}
