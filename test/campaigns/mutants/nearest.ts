import type { SourceFile } from '../../support/imports.ts';

/** How many imports lead from each test file to a file, at least; those from which none leads there are left out. */
export function distancesTo(path: string, sources: readonly SourceFile[]): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const { path: importer, files } of sources)
    for (const file of files) importers.set(file, [...(importers.get(file) ?? []), importer]);
  const distances = new Map([[path, 0]]);
  // A Map is walked in the order in which it is filled, while it is filled.
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  return new Map([...distances].filter(([file]) => file.endsWith('.test.ts')));
}
