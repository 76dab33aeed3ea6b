/** The package `switchboard-client`: the SDK as it is served, its types, and the hook for React. `npm pack` in packages/client makes it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'packages/client');
const out = join(home, 'dist');
const hook = join(root, 'src/web/react');
const tags = join(root, 'src/web/tags');

/** The hook and the page share one copy of the SDK's core. With two, there would be two error classes. */
const core = {
  name: 'core',
  enforce: 'pre',
  resolveId: (source) => (source === '../widget/main.ts' ? { id: './index.js', external: 'relative' } : null),
};

async function buildHook({ build }) {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [core],
    build: {
      outDir: out,
      emptyOutDir: false,
      target: 'es2022',
      lib: { entry: join(hook, 'main.ts'), formats: ['es'], fileName: () => 'react.js' },
      // Needed by frameworks that also render on servers.
      rolldownOptions: { external: ['react'], output: { banner: "'use client';" } },
    },
  });
  const types = await readFile(join(hook, 'api.ts'), 'utf8');
  await writeFile(
    join(out, 'react.d.ts'),
    types.replace("'../widget/api.ts'", "'./index.js'").replace("'../element/api.ts'", "'./element.js'"),
  );
}

/** The types of the tag for the templates of each framework; those for React are part of the hook's. */
async function publishTags() {
  for (const name of await readdir(tags)) {
    const types = await readFile(join(tags, name), 'utf8');
    await writeFile(join(out, `${name.slice(0, -3)}.d.ts`), types.replace("'../element/api.ts'", "'./element.js'"));
  }
}

/** The contents of the package besides its manifest, README and package.json. */
async function writeManifest() {
  const names = (await readdir(out)).map((name) => `dist/${name}`).toSorted();
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(home, name));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return [name, { bytes: bytes.length, gzip: gzipSync(bytes).length, sha256 }];
    }),
  );
  await writeFile(join(out, 'manifest.json'), `${JSON.stringify(Object.fromEntries(files), null, 2)}\n`);
}

/** @param web the folder with the built SDK */
export async function buildClient(vite, web) {
  // The service's image is built without the package.
  if (!existsSync(home)) return;
  await rm(out, { recursive: true, force: true });
  await mkdir(out);
  await copyFile(join(root, 'LICENSE'), join(home, 'LICENSE'));
  await copyFile(join(web, 'widget.mjs'), join(out, 'index.js'));
  await copyFile(join(web, 'widget.d.mts'), join(out, 'index.d.ts'));
  const element = await readFile(join(web, 'switchboard-widget.d.mts'), 'utf8');
  await writeFile(join(out, 'element.d.ts'), element.replace('./widget.mjs', './index.js'));
  await publishTags();
  await buildHook(vite);
  await writeManifest();
}
