/** Builds the files for browsers with Vite: the widget SDK, the element, the demo, the operator console, and what the other pages load. */
import { cp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { buildClient } from './build-client.mjs';
import { collectPackages, noticesAsText } from './notices.mjs';

// If it is not set, Vite sets it for the whole process, and its runnerImport sets it to development: the console would become a development
// build whenever runnerImport ran first.
process.env.NODE_ENV = 'production';

const root = fileURLToPath(new URL('..', import.meta.url));
const web = join(root, 'src/web');
const out = join(root, 'dist/web');

/** How long old files are kept, because a page that was opened before an update may still load them. */
const KEEP_OLD_ASSETS_MS = 60 * 60 * 1000;

/** Its modification time is the start of the last complete build; it lists the folders of the bundled packages. */
export const stamp = join(out, '.built');

/** The demo page loads the served SDK instead of bundling it, so that it runs what widget developers get. */
const servedSdk = {
  name: 'served-sdk',
  enforce: 'pre',
  resolveId: (source) => (source === '../widget/main.ts' ? { id: '/widget.mjs', external: 'absolute' } : null),
};

/** Vite's own loader takes a kilobyte to wait for the style sheets of lazy parts, but the parts of /docs have none. */
const bareImports = {
  name: 'bare-imports',
  enforce: 'pre',
  load: (id) => (id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load();' : null),
};

/** The pages of the demo: their names and their entry files. */
const demoPages = [
  ['demo', 'main.ts'],
  ['take-over', 'take-over.ts'],
];

const demoFiles = ['index.html', 'take-over.html', ...demoPages.flatMap(([name]) => [`${name}.css`, `${name}.js`])];

/** The packages in all bundles that are built here. */
const packages = collectPackages();

/** For code that other people's pages load: the minifier inlines a `const`, but not a `var`. */
const small = { topLevelVar: false };

/** Bundles one entry. It does not empty the output directory, which several bundles share. */
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
 * Publishes the types as files without imports, once for the module and once with the global that the plain script defines. Types that
 * api.ts imports from the protocol are written out.
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

/** Publishes the types of the element, as a module and as a plain script. They import the SDK's types from the file beside them. */
async function publishElementTypes() {
  const types = await readFile(join(web, 'element/api.ts'), 'utf8');
  await writeFile(join(out, 'switchboard-widget.d.mts'), types.replace('../widget/api.ts', './widget.mjs'));
  await writeFile(join(out, 'switchboard-widget.d.ts'), types.replace('../widget/api.ts', './widget.js'));
}

/** Compresses a file once, rather than for each request. */
async function pack(name) {
  await writeFile(join(out, `${name}.gz`), await promisify(gzip)(await readFile(join(out, name)), { level: 9 }));
}

/** Compresses the files that other people's pages load, their types, and the demo. */
async function packForPages() {
  const names = (await readdir(out)).filter((name) => /^(?:switchboard-)?widget.*(?:\.m?js|\.css|\.m?ts)$/.test(name));
  await Promise.all([...names, ...demoFiles.map((name) => `demo/${name}`)].map(pack));
}

const preload = (name) => `    <link rel="modulepreload" href="/${name}" />\n`;

/**
 * Builds a separate page. The names of its assets contain a hash of their content, so browsers may cache them forever.
 */
async function buildPage(vite, page, entryFile, output = {}, plugins = [], define) {
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
    { define },
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
      // The entry's imports are preloaded, instead of being requested only once the entry has loaded.
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
 * Puts everything that several views share, including the loader of their parts, into one file instead of thirty, because the number of files
 * that an address may request in a minute is limited.
 */
const sharedByViews = {
  groups: [
    {
      name: 'shared',
      test: /\/src\/web\/console\/(?:components|data|labels)\/|vite\/preload-helper/,
      minShareCount: 2,
    },
  ],
};

/** The labels of all error codes as JSON: the console loads nothing else of their rows. */
async function errorLabels({ runnerImport }) {
  const { module } = await runnerImport(join(root, 'src/protocol/errors/error-codes.ts'), { root, configFile: false });
  return JSON.stringify(
    Object.fromEntries(Object.entries(module.ERROR_CODES).map(([code, { label }]) => [code, label])),
  );
}

/**
 * Builds the element as a library. It loads its languages from its own address, which a plain script has to find without `import.meta`.
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
  const { module } = await vite.runnerImport(join(root, 'src/protocol/error-translations/languages.ts'), {
    root,
    configFile: false,
  });
  // English is part of the element itself.
  const languages = module.LANGUAGES.filter((name) => name !== module.DEFAULT_LANGUAGE).map((name) => [
    name,
    join(web, `element/translations/${name}.ts`),
  ]);
  const parts = [
    ['challenge', join(web, 'element/challenge/main.ts')],
    ['talk', join(web, 'element/in-call/main.ts')],
  ];
  await bundle(vite, Object.fromEntries([...languages, ...parts]), {
    format: 'es',
    entryFileNames: 'switchboard-widget-[name].mjs',
  });
  await cp(join(web, 'element/style.css'), join(out, 'switchboard-widget.css'));
}

/** @param {Date} startedAt the stamp's modification time, so that a change during the build makes it stale */
export async function buildWithVite(startedAt) {
  const vite = await import('vite');
  await bundle(vite, join(web, 'widget/main.ts'), [
    { format: 'es', entryFileNames: 'widget.mjs', ...small },
    { format: 'iife', name: 'Switchboard', entryFileNames: 'widget.js', generatedCode: { symbols: false }, ...small },
  ]);
  await buildElement(vite);
  // Each page of the demo is a single file whose address does not change.
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
  const define = { ERROR_LABELS: await errorLabels(vite) };
  await buildPage(vite, 'console', 'main.tsx', { codeSplitting: sharedByViews }, [], define);
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
