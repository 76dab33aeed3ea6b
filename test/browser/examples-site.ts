import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { compileScript, parse } from 'vue/compiler-sfc';
import { installClient } from '../support/packed-client.ts';
import { servePages, type PageServer } from '../support/page-server.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** What a project has around the React example: the component in a page that can unmount it, and one that starts by itself. */
const reactPage = `
  import { Profiler, StrictMode, useEffect, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { useSwitchboard } from 'switchboard-client/react';
  import { Talk } from './Talk.jsx';

  globalThis.renders = 0;
  globalThis.verbs = new Set();
  const { eager, ...options } = Object.fromEntries(new URLSearchParams(location.search));

  function Eager() {
    const { session, state, media, start, end, mute, send } = useSwitchboard(options);
    useEffect(() => void start(), [start]);
    for (const verb of [start, end, mute, send]) verbs.add(verb);
    globalThis.session = session;
    return <p role="status">{state} {media}</p>;
  }

  function Page() {
    const [isThere, setThere] = useState(true);
    return (
      <StrictMode>
        <button onClick={() => setThere(false)}>Leave</button>
        <Profiler id="talk" onRender={() => (renders += 1)}>
          {isThere && (eager ? <Eager /> : <Talk {...options} />)}
        </Profiler>
      </StrictMode>
    );
  }
  createRoot(document.getElementById('app')).render(<Page />);
`;

const vuePage = `
  import { createApp } from 'vue';
  import Talk from './Talk.vue';
  const app = createApp(Talk, Object.fromEntries(new URLSearchParams(location.search)));
  app.mount('#app');
  globalThis.leave = () => app.unmount();
`;

/** Vue's own compiler: the official plugin brings more than a single component needs. */
const vueComponents: Plugin = {
  name: 'vue-components',
  transform(code, id) {
    if (!id.endsWith('.vue')) return undefined;
    return compileScript(parse(code).descriptor, { id, inlineTemplate: true }).content;
  },
};

/**
 * Serves the examples that have a page from an origin of their own: /page, /react and /vue.
 * @param switchboard returns the server's address; called for each visit
 */
export async function serveExamples(switchboard: () => string): Promise<PageServer> {
  const scripts = await bundleExamples();
  const page = await readFile(join(examples, 'page/index.html'), 'utf8');
  return servePages((request, response) => {
    const path = new URL(request.url ?? '', 'http://localhost').pathname;
    const script = scripts.get(path);
    response.setHeader('Content-Type', script === undefined ? 'text/html; charset=utf-8' : 'text/javascript');
    const mount = `<!doctype html><title>Example</title><div id="app"></div><script type="module" src="${path}.js"></script>`;
    response.end(script ?? (path === '/page' ? page.replaceAll('http://localhost:3000', switchboard()) : mount));
  });
}

/** Bundles the unchanged components in a project that installs the package from its tarball. @returns scripts by path */
async function bundleExamples(): Promise<ReadonlyMap<string, string>> {
  const project = await installClient(['react', 'react-dom', 'vue']);
  const { folder } = project;
  await copyFile(join(examples, 'react/Talk.jsx'), join(folder, 'Talk.jsx'));
  await copyFile(join(examples, 'vue/Talk.vue'), join(folder, 'Talk.vue'));
  await writeFile(join(folder, 'react.jsx'), reactPage);
  await writeFile(join(folder, 'vue.js'), vuePage);
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    plugins: [vueComponents],
    // React runs effects twice only in development.
    define: { 'process.env.NODE_ENV': '"development"' },
    build: {
      write: false,
      minify: false,
      rolldownOptions: {
        input: { react: join(folder, 'react.jsx'), vue: join(folder, 'vue.js') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
  await project.close();
  if (!('output' in built)) throw new Error('there is one bundle');
  return new Map(
    built.output.map((file) => [`/${file.fileName}`, file.type === 'chunk' ? file.code : String(file.source)]),
  );
}
