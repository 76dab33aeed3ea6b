import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A source file and its imports: files as paths from the root, packages by name. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

/** `import … from`, `export … from`, `import '…'`, `import('…')` and `require('…')`; types count like values. */
const specifiers =
  /(?:^|[\s;}])(?:import|export)\s[^'";]*?from\s*'([^']+)'|^import\s*'([^']+)'|\b(?:import|require)\(\s*'([^']+)'/gm;
const comments = /\/\*[^]*?\*\/|(?<![:'"`])\/\/.*$/gm;

/** Finds the imports in the text of one file. */
export function readImports(path: string, text: string): SourceFile {
  const found = [...text.replaceAll(comments, '').matchAll(specifiers)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
  const isFile = (specifier: string): boolean => specifier.startsWith('.');
  return {
    path,
    text,
    files: found.filter(isFile).map((specifier) => normalize(join(dirname(path), specifier))),
    packages: found.filter((specifier) => !isFile(specifier)),
  };
}

/** All source files below the folders, sorted by path. */
export function readSources(root: string, folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path))
    .toSorted()
    .map((path) => readImports(path, readFileSync(join(root, path), 'utf8')));
}

/** The first import cycle, as a path that ends where it began; undefined when there is none. */
export function findCycle(sources: readonly SourceFile[]): string[] | undefined {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): string[] | undefined => {
    const start = trail.indexOf(path);
    if (start >= 0) return [...trail.slice(start), path];
    if (done.has(path)) return undefined;
    for (const next of byPath.get(path)?.files ?? []) {
      const cycle = visit(next, [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const { path } of sources) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
