/** The packages whose code is bundled, and their licences, each of which requires its notice to be included. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A plugin that records the folders of the packages in each bundle. */
export function collectPackages() {
  const folders = new Set();
  return {
    plugin: {
      name: 'collect-packages',
      generateBundle(_, files) {
        for (const { moduleIds = [] } of Object.values(files)) {
          for (const id of moduleIds) {
            const folder = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
            if (folder !== undefined) folders.add(folder);
          }
        }
      },
    },
    folders: () => [...folders],
  };
}

/** The notices that are served beside the files for browsers. */
export function noticesAsText(folders) {
  return folders
    .map((folder) => paragraphsOf(readPackage(folder)))
    .toSorted()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** The notices that are shipped with the package and the image. */
export function noticesAsMarkdown(folders) {
  const notices = [...new Set(folders)].map(readPackage).map(({ title, texts }) => {
    const quoted = texts.map((text) => `\n\`\`\`text\n${text}\n\`\`\`\n`).join('');
    return `## ${title}\n${quoted}`;
  });
  return `# Third-party notices

The packages that are bundled in \`dist/\`, in the service or in the files for browsers, and their licences. What is installed beside them in
\`node_modules/\` brings its own; \`dist/sbom.cdx.json\` lists both.

${notices.toSorted().join('\n')}`;
}

const mit = (holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** Licence texts from the repositories of packages that do not ship theirs. */
const ofRepositories = { '@redis/client': mit('2022-2025, Redis, inc.') };

/** Licences that require no notice. */
const silent = new Set(['0BSD', 'CC0-1.0', 'MIT-0', 'Unlicense']);

function readPackage(folder) {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
  return noticeOf(
    manifest,
    files.map((file) => readFileSync(join(folder, file), 'utf8').trim()),
  );
}

/** @throws Error for a package without a licence or its text: whether it may be shipped is not for a build to decide */
function noticeOf({ name, version, license }, brought) {
  const kept = ofRepositories[name];
  const texts = brought.length === 0 && kept !== undefined ? [kept] : brought;
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} names no licence`);
  if (texts.length === 0 && !silent.has(license)) throw new Error(`${name} ${version} has no text of its licence`);
  return { title: `${name} ${version}${license === undefined ? '' : `, ${license}`}`, texts };
}

const paragraphsOf = ({ title, texts }) => `${[title, ...texts].join('\n\n')}\n`;
