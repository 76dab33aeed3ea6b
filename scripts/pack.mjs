/**
 * Packs both packages for publishing, with the address of their sources, which npm compares with where the publishing job runs.
 *
 *   SWITCHBOARD_REPOSITORY=https://github.com/OWNER/NAME npm run pack
 *   npm publish ./packed/switchboard-0.1.0.tgz
 *
 * The tarballs are in packed/. The packages in this tree are not changed.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packed = join(root, 'packed');
const address = process.env.SWITCHBOARD_REPOSITORY;

if (!/^https:\/\/\S+[^/]$/.test(address ?? '')) {
  console.error('Set SWITCHBOARD_REPOSITORY to the https address of the repository, without a slash at its end.');
  process.exit(64);
}

const npmPack = (cwd, to) =>
  Object.values(
    JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to], { cwd })),
  )[0].filename;

rmSync(packed, { recursive: true, force: true });
mkdirSync(packed);
for (const directory of ['.', 'packages/client']) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-pack-'));
  try {
    const filename = npmPack(join(root, directory), folder);
    execFileSync('tar', ['-xzf', filename], { cwd: folder });
    const manifest = join(folder, 'package/package.json');
    const { repository, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
    writeFileSync(
      manifest,
      `${JSON.stringify({ ...rest, repository: { ...repository, url: `git+${address}.git` } }, null, 2)}\n`,
    );
    console.log(`packed/${npmPack(join(folder, 'package'), packed)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
