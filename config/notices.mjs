/** The licences of the packages whose code goes into bundles: each asks that its notice goes along. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Notes, of each bundle that it is a plugin of, which packages went into it. */
export function collectNotices() {
  const folders = new Set();
  return {
    plugin: {
      name: 'collect-notices',
      generateBundle(_, files) {
        for (const { moduleIds = [] } of Object.values(files)) {
          for (const id of moduleIds) {
            const folder = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
            if (folder !== undefined) folders.add(folder);
          }
        }
      },
    },
    text: () =>
      [...folders]
        .map(noticeOf)
        .toSorted()
        .join(`\n${'-'.repeat(80)}\n\n`),
  };
}

/** @throws Error for a package without a licence: whether it may go along is not for a build to decide */
function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
  if (license === undefined && files.length === 0) throw new Error(`${name} ${version} names no licence`);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${[`${name} ${version}${license === undefined ? '' : `, ${license}`}`, ...texts].join('\n\n')}\n`;
}
