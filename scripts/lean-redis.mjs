/**
 * Bundles node-redis without what src/redis does not use, which is most of it: 400 commands as methods (we send our own), their metadata,
 * cluster and sentinel. All this took 24 MB of an idle node and a fifth of the CPU time of its start (docs/decisions/0008).
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const folder = dirname(createRequire(import.meta.url).resolve('@redis/client'));

/** The commands that the client itself sends when it connects. */
function neededCommands() {
  const client = readFileSync(join(folder, 'lib/client/index.js'), 'utf8');
  const names = new Set([...client.matchAll(/commands_1\.default\.(\w+)/g)].map(([, name]) => name));
  if (!names.has('AUTH')) throw new Error('@redis/client names its commands otherwise: see scripts/lean-redis.mjs');
  return [...names];
}

/** A require call that the bundler follows. */
const load = (path) => `require(${JSON.stringify(path)})`;

/** Replacements for files of the library, by path. */
const replaced = {
  'index.js': () => `module.exports = { RedisClient: ${load('./lib/client')}.default, ...${load('./lib/errors')} };`,
  'lib/commands/index.js': () =>
    `exports.default = { ${neededCommands()
      .map((name) => `${name}: ${load(`./${name}`)}.default`)
      .join()} };
     exports.NON_STICKY_COMMANDS = {};
     Object.defineProperty(exports, '__esModule', { value: true });`,
  // Only a client-side cache asks for it.
  'lib/command-metadata/index.js': () => `module.exports = {};`,
};

export const leanRedis = {
  name: 'lean-redis',
  load: {
    filter: { id: /@redis\/client\/dist\// },
    handler: (id) => replaced[id.slice(folder.length + 1)]?.(),
  },
};
