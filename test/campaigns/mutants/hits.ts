import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Mutant } from './sites.ts';

/**
 * A file's text in which each place of the sample notes that it was reached.
 * @param places by number, see `copyOf` for what notes it
 */
export function noteHits(text: string, places: ReadonlyMap<number, Mutant>): string {
  const inserts = [...places].flatMap(([index, { start, end, place }]) => {
    const note = `globalThis.mutantHit?.(${index})`;
    const length = end - start;
    if (place === 'block') return [{ at: start + 1, order: 0, text: `${note};` }];
    const [before, after] = place === 'expression' ? [`(${note}, `, ')'] : [`{ ${note}; `, '}'];
    // Of two places that begin at the same offset, the longer one is outside; so it is of two that end there.
    return [
      { at: start, order: 1 / length, text: before },
      { at: end, order: -1 / length, text: after },
    ];
  });
  let noted = '';
  let done = 0;
  for (const { at, text: inserted } of inserts.toSorted((a, b) => a.at - b.at || a.order - b.order)) {
    noted += text.slice(done, at) + inserted;
    done = at;
  }
  return noted + text.slice(done);
}

/** Which test files reached which place. */
export function readHits(file: string, root: string): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const { test, hits } = JSON.parse(line) as { test: string; hits: number[] };
    for (const hit of hits) found.set(hit, (found.get(hit) ?? new Set()).add(relative(root, test)));
  }
  return found;
}
