import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The uWebSockets.js that the service would load. */
export function loadUws() {
  const names = ['22', '24', '26'].includes(process.versions.node.split('.')[0])
    ? ['uws-current', 'uws-compatible']
    : ['uws-compatible'];
  for (const name of names) {
    try {
      return require(name);
    } catch {
      // Then try the other one.
    }
  }
  throw new Error('no uWebSockets.js for this Node and C library');
}
