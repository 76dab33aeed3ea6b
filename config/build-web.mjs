/** The files for browsers that Vite builds: the widget SDK, the element, the demo page, the operator console, and what the other pages load. */
import { cp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { buildClient } from './build-client.mjs';
import { collectPackages, noticesAsText } from './notices.mjs';

// Where it is missing Vite sets it for the whole process, and its runnerImport to development: without this the console came out as a
// development build wherever runnerImport was first.
process.env.NODE_ENV = 'production';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'src/web');
const out = join(root, 'dist/web');

/** A page that was opened before an update may still load its own files. */
const KEEP_OLD_ASSETS_MS = 60 * 60 * 1000;

/** Its time is the start of the last complete build; it lists the folders of the packages that are bundled. */
export const stamp = join(out, '.built');

/** The demo page loads the served SDK instead of bundling it: it runs what a widget developer gets. */
const servedSdk = {
  name: 'served-sdk',
  enforce: 'pre',
  resolveId: (source) => (source === '../widget/main.ts' ? { id: '/widget.mjs', external: 'absolute' } : null),
};

/** Vite's own loader waits for style sheets of the part that is loaded, for a kilobyte; parts of /docs have none. */
const bareImports = {
  name: 'bare-imports',
  enforce: 'pre',
  load: (id) => (id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load();' : null),
};

/** The pages of the demo: their names and their programs. */
const demoPages = [
  ['demo', 'main.ts'],
  ['take-over', 'take-over.ts'],
];

const demoFiles = ['index.html', 'take-over.html', ...demoPages.flatMap(([name]) => [`${name}.css`, `${name}.js`])];

/** Of all bundles here. */
const packages = collectPackages();

/** For code that other people's pages load: the minifier inlines a `const`, but not a `var`. */
const small = { topLevelVar: false };

/** Bundles one entry; the output directory belongs to several. */
function bundle({ build }, input, output, plugins = [], { lib, define, cssTarget } = {}) {
  return build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [...plugins, packages.plugin],
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

/** The types of the element, as a module and as a plain script, import the SDK's from the file beside them. */
async function publishElementTypes() {
  const types = await readFile(join(web, 'element/api.ts'), 'utf8');
  await writeFile(join(out, 'switchboard-widget.d.mts'), types.replace('../widget/api.ts', './widget.mjs'));
  await writeFile(join(out, 'switchboard-widget.d.ts'), types.replace('../widget/api.ts', './widget.js'));
}

/** Compresses a file once here rather than for each request. */
async function pack(name) {
  await writeFile(join(out, `${name}.gz`), await promisify(gzip)(await readFile(join(out, name)), { level: 9 }));
}

/** The files that other people's pages load, and their types; and the demo. */
async function packForPages() {
  const names = (await readdir(out)).filter((name) => /^(?:switchboard-)?widget.*(?:\.m?js|\.css|\.m?ts)$/.test(name));
  await Promise.all([...names, ...demoFiles.map((name) => `demo/${name}`)].map(pack));
}

const preload = (name) => `    <link rel="modulepreload" href="/${name}" />\n`;

/**
 * A page of its own: the names of its assets contain a hash of their content, so that browsers may cache them for ever.
 */
async function buildPage(vite, page, entryFile, output = {}, plugins = []) {
  const folder = `${page}/assets`;
  const assets = join(out, folder);
  const { output: files } = await bundle(
    vite,
    { [page]: join(web, page, entryFile) },
    {
      format: 'es',
      entryFileNames: `${folder}/[name]-[hash].js`,
      chunkFileNames: `${folder}/[name]-[hash].js`,
      assetFileNames: `${folder}/[name]-[hash][extname]`,
      ...output,
    },
    plugins,
  );
  const names = files.map(({ fileName }) => fileName);
  await Promise.all(names.map(pack));
  const entry = files.find(({ isEntry }) => isEntry);
  const [style] = entry.viteMetadata.importedCss;
  const shells = (await readdir(join(web, page))).filter((name) => name.endsWith('.html'));
  for (const shell of shells) {
    const html = await readFile(join(web, page, shell), 'utf8');
    const named = html
      .replace(`/${folder}/${page}.css`, `/${style}`)
      .replace(`/${folder}/${page}.js`, `/${entry.fileName}`)
      // Imports of the program are preloaded, not requested only once the program has loaded.
      .replace('  </head>', () => entry.imports.map(preload).concat('  </head>').join(''));
    await writeFile(join(out, page, shell), named);
  }

  const present = new Set(names.flatMap((name) => [name, `${name}.gz`]));
  for (const name of await readdir(assets)) {
    const { mtimeMs } = await stat(join(assets, name));
    if (!present.has(`${folder}/${name}`) && Date.now() - mtimeMs > KEEP_OLD_ASSETS_MS) {
      await rm(join(assets, name), { force: true });
    }
  }
}

/**
 * One file for everything that several views share, what loads their parts included, not thirty: the files that an address may request in a
 * minute are limited.
 */
const sharedByViews = {
  groups: [
    { name: 'shared', test: /\/src\/web\/console\/(?:data|parts|words)\/|vite\/preload-helper/, minShareCount: 2 },
  ],
};

/**
 * The element, as a library. It loads its languages from its own address; a plain script has no `import.meta` and finds that address in
 * another way.
 */
async function buildElement(vite) {
  const entry = join(web, 'element/main.ts');
  await bundle(vite, entry, { format: 'es', entryFileNames: 'switchboard-widget.mjs', minify: true, ...small }, [], {
    lib: { entry, formats: ['es'] },
    cssTarget: 'esnext',
  });
  await bundle(vite, entry, { format: 'iife', entryFileNames: 'switchboard-widget.js', minify: true, ...small }, [], {
    lib: { entry, formats: ['iife'], name: 'unused' },
    cssTarget: 'esnext',
    define: { 'import.meta.url': 'undefined' },
  });
  const { module } = await vite.runnerImport(join(root, 'src/protocol/languages/all.ts'), { root, configFile: false });
  // English is in the element itself.
  const languages = module.LANGUAGES.filter((name) => name !== module.DEFAULT_LANGUAGE).map((name) => [
    name,
    join(web, `element/words/${name}.ts`),
  ]);
  const parts = ['challenge', 'talk'].map((name) => [name, join(web, `element/${name}/main.ts`)]);
  await bundle(vite, Object.fromEntries([...languages, ...parts]), {
    format: 'es',
    entryFileNames: 'switchboard-widget-[name].mjs',
  });
  await cp(join(web, 'element/style.css'), join(out, 'switchboard-widget.css'));
}

/** @param {Date} startedAt dates the stamp, so that a change during the build makes it stale */
export async function buildWithVite(startedAt) {
  const vite = await import('vite');
  await bundle(vite, join(web, 'widget/main.ts'), [
    { format: 'es', entryFileNames: 'widget.mjs', ...small },
    { format: 'iife', name: 'Switchboard', entryFileNames: 'widget.js', generatedCode: { symbols: false }, ...small },
  ]);
  await buildElement(vite);
  // Each page of the demo is one file of its own, whose address does not change.
  for (const [name, entry] of demoPages) {
    await bundle(
      vite,
      { [name]: join(web, 'demo', entry) },
      { format: 'es', entryFileNames: 'demo/[name].js', assetFileNames: 'demo/[name][extname]' },
      [servedSdk],
    );
  }
  for (const name of demoFiles.filter((file) => file.endsWith('.html')))
    await cp(join(web, 'demo', name), join(out, 'demo', name));
  await buildPage(vite, 'console', 'main.tsx', { codeSplitting: sharedByViews });
  await buildPage(vite, 'home', 'main.ts');
  await buildPage(vite, 'docs', 'main.ts', {}, [bareImports]);
  await writeFile(join(out, 'third-party-notices.txt'), noticesAsText(packages.folders()));
  await publishTypes(vite);
  await publishElementTypes();
  await packForPages();
  await buildClient(vite, out);
  await writeFile(stamp, JSON.stringify(packages.folders()));
  await utimes(stamp, startedAt, startedAt);
}
