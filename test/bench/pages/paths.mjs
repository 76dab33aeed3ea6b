// What the service serves beside its API: pages, descriptions, probes, and the largest of each kind of built file.
import { readdirSync, statSync } from 'node:fs';

const pages = [
  '/',
  '/docs',
  '/demo',
  '/console',
  '/dev/mail',
  '/openapi.json',
  '/asyncapi.json',
  '/demo/config.json',
  '/demo/machines.json',
];
const probes = ['/healthz', '/readyz', '/metrics'];
const missing = ['/nowhere', '/console/assets/nowhere-00000000.js'];

/** Folders of the build under the paths where the service serves them, with the files that are served. */
const folders = [
  ['', /\.(?:m?js|css|svg)$|\.d\.m?ts$/],
  ['demo/', /\.(?:js|css)$/],
  ['console/assets/', /./],
  ['docs/assets/', /./],
  ['home/assets/', /./],
];

/** @param web the directory of the build's files */
export function servedPaths(web) {
  return [
    ...[...pages, ...probes, ...missing].map((path) => ({ label: path, path })),
    ...folders.flatMap(largestOf(web)),
  ];
}

/** A file's size decides what it costs to send, so smaller files cost less. */
function largestOf(web) {
  return ([folder, isServed]) => {
    const files = readdirSync(`${web}/${folder}`, { withFileTypes: true })
      .filter((entry) => entry.isFile() && isServed.test(entry.name) && !/\.(?:gz|map)$/.test(entry.name))
      .map(({ name }) => ({ name, size: statSync(`${web}/${folder}${name}`).size }))
      .toSorted((a, b) => b.size - a.size);
    const [largest] = files;
    if (largest === undefined) return [];
    return [{ label: `/${folder}${largest.name}, largest of ${files.length}`, path: `/${folder}${largest.name}` }];
  };
}
