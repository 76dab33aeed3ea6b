/** What browsers get that is made by Vite: the widget SDK, the element, the demo page and the operator console. */
import { cp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { buildClient } from './build-client.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'src/web');
const out = join(root, 'dist/web');

/** A page that was opened before an update may still load what it was built with. */
const KEEP_OLD_ASSETS_MS = 60 * 60 * 1000;

/** Dated by the start of the last build that went to its end. */
export const stamp = join(out, '.built');

/** The demo page loads the served SDK instead of bundling it: it runs what a widget developer gets. */
const servedSdk = {
  name: 'served-sdk',
  enforce: 'pre',
  resolveId: (source) => (source === '../widget/main.ts' ? { id: '/widget.mjs', external: 'absolute' } : null),
};

/** Bundles one entry; the output directory belongs to several. */
function bundle({ build }, input, output, plugins = [], { lib, define, cssTarget } = {}) {
  return build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins,
    define,
    build: {
      lib,
      outDir: out,
      emptyOutDir: false,
      target: 'es2022',
      cssTarget,
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

const preload = (name) => `    <link rel="modulepreload" href="/${name}" />\n`;

/**
 * The console: assets are named by what is in them, so that browsers keep them for ever, and packed here rather than for each request.
 * Its page names them.
 */
async function buildConsole(vite) {
  const assets = join(out, 'console/assets');
  const { output } = await bundle(
    vite,
    { console: join(web, 'console/main.tsx') },
    {
      format: 'es',
      entryFileNames: 'console/assets/[name]-[hash].js',
      chunkFileNames: 'console/assets/[name]-[hash].js',
      assetFileNames: 'console/assets/[name]-[hash][extname]',
      // One file of what several pages share, not thirty: an address may ask for so many files a minute, and may be an office's.
      codeSplitting: {
        groups: [{ name: 'shared', test: /\/src\/web\/console\/(?:data|parts|words)\//, minShareCount: 2 }],
      },
    },
  );
  const names = output.map(({ fileName }) => fileName);
  const pack = promisify(gzip);
  for (const { fileName, code, source } of output) {
    await writeFile(join(out, `${fileName}.gz`), await pack(code ?? source, { level: 9 }));
  }
  const entry = output.find(({ isEntry }) => isEntry);
  const [style] = entry.viteMetadata.importedCss;
  const page = await readFile(join(web, 'console/index.html'), 'utf8');
  const named = page
    .replace('/console/assets/console.css', `/${style}`)
    .replace('/console/assets/console.js', `/${entry.fileName}`)
    // What the program imports is asked for at once, and not only when the program is there.
    .replace('  </head>', () => entry.imports.map(preload).concat('  </head>').join(''));
  await writeFile(join(out, 'console/index.html'), named);

  const present = new Set(names.flatMap((name) => [name, `${name}.gz`]));
  for (const name of await readdir(assets)) {
    const { mtimeMs } = await stat(join(assets, name));
    if (!present.has(`console/assets/${name}`) && Date.now() - mtimeMs > KEEP_OLD_ASSETS_MS) {
      await rm(join(assets, name), { force: true });
    }
  }
}

/**
 * The element, as a library: what it loads by itself, its languages, it names by where it came from. A plain script has no
 * `import.meta`, and knows that otherwise.
 */
async function buildElement(vite) {
  const entry = join(web, 'element/main.ts');
  await bundle(vite, entry, { format: 'es', entryFileNames: 'switchboard-widget.mjs', minify: true }, [], {
    lib: { entry, formats: ['es'] },
    cssTarget: 'esnext',
  });
  await bundle(vite, entry, { format: 'iife', entryFileNames: 'switchboard-widget.js', minify: true }, [], {
    lib: { entry, formats: ['iife'], name: 'unused' },
    cssTarget: 'esnext',
    define: { 'import.meta.url': 'undefined' },
  });
  const languages = ['de', 'fr', 'es', 'ja'].map((name) => [name, join(web, `element/words/${name}.ts`)]);
  await bundle(vite, Object.fromEntries(languages), { format: 'es', entryFileNames: 'switchboard-widget-[name].mjs' });
  await cp(join(web, 'element/style.css'), join(out, 'switchboard-widget.css'));
}

/** @param {Date} startedAt dates the stamp, so that a change during the build makes it stale */
export async function buildWithVite(startedAt) {
  const vite = await import('vite');
  await bundle(vite, join(web, 'widget/main.ts'), [
    { format: 'es', entryFileNames: 'widget.mjs' },
    { format: 'iife', name: 'Switchboard', entryFileNames: 'widget.js', generatedCode: { symbols: false } },
  ]);
  await buildElement(vite);
  await bundle(
    vite,
    { demo: join(web, 'demo/main.ts') },
    { format: 'es', entryFileNames: 'demo/[name].js', assetFileNames: 'demo/[name][extname]' },
    [servedSdk],
  );
  await cp(join(web, 'demo/index.html'), join(out, 'demo/index.html'));
  await buildConsole(vite);
  await publishTypes(vite);
  await buildClient(vite, out);
  await writeFile(stamp, '');
  await utimes(stamp, startedAt, startedAt);
}
