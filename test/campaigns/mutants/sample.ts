import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../faults/random.ts';
import { mutantsOf, type Mutant } from './sites.ts';

/** A mutant of the sample: where it is, and what people read of it. */
export interface Sampled extends Mutant {
  readonly path: string;
  readonly folder: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

const MAX_SHOWN = 100;

/** Draws mutants of all files in folders, each as probably as any other: the same ones for the same seed and code. */
export function drawMutants(
  root: string,
  folders: readonly string[],
  count: number,
  seed: number,
): { all: number; drawn: Sampled[] } {
  const all = folders.flatMap((folder) => filesIn(root, folder).flatMap((path) => mutantsIn(root, folder, path)));
  return { all: all.length, drawn: new Random(seed).shuffled(all).slice(0, count) };
}

function filesIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => join(folder, name));
}

function mutantsIn(root: string, folder: string, path: string): Sampled[] {
  const text = readFileSync(join(root, path), 'utf8');
  return mutantsOf(path, text).map((mutant) => ({
    ...mutant,
    path,
    folder,
    line: text.slice(0, mutant.start).split('\n').length,
    ...shown(text, mutant),
  }));
}

/** Of a long place the beginning, on one line. A string or a number alone says little, so its line is shown as well. */
function shown(text: string, { start, end, text: replacement, place }: Mutant): { before: string; after: string } {
  if (place === 'block') {
    const from = text.lastIndexOf('\n', start) + 1;
    const head = text.slice(from, start).trim();
    return { before: short(`${head} {`), after: short(`${head} { return;`) };
  }
  const from = text.lastIndexOf('\n', start) + 1;
  const to = text.indexOf('\n', end);
  const rest = text.slice(end, to < 0 ? undefined : to);
  const head = text.slice(from, start);
  return { before: short(head + text.slice(start, end) + rest), after: short(head + replacement + rest) };
}

function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}...` : line;
}
