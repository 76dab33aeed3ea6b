import type { Sampled } from './sample.ts';

/** The share of a sample, and the interval that has the share of the whole with 95 % confidence (Wilson's, which holds for small samples). */
export interface Share {
  readonly killed: number;
  readonly all: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.96;

/** @param outcomes whether each was killed */
export function shareOf(outcomes: readonly boolean[]): Share {
  const all = outcomes.length;
  const killed = outcomes.filter(Boolean).length;
  if (all === 0) return { killed, all, low: 0, high: 1 };
  const share = killed / all;
  const scale = 1 + Z ** 2 / all;
  const centre = (share + Z ** 2 / (2 * all)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / all + Z ** 2 / (4 * all ** 2));
  return { killed, all, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** As `41 of 50 (82 %, with 95 % confidence 69 to 90 %)`. */
export function showShare({ killed, all, low, high }: Share): string {
  if (all === 0) return 'none';
  const percent = (share: number): string => String(Math.round(share * 100));
  return `${killed} of ${all} (${percent(killed / all)} %, with 95 % confidence ${percent(low)} to ${percent(high)} %)`;
}

/** What became of a mutant. */
export interface Result extends Sampled {
  /** `stalled`: stopped by the clock; `refused`: no test noticed it, but the compiler does. */
  readonly outcome: 'killed' | 'stalled' | 'refused' | 'survived';
  /** The test, or what the compiler says. */
  readonly by: string | undefined;
  /** How many test files reach it, and how many of these were run. */
  readonly reached: number;
  readonly ran: number;
}

/** Each survivor, and the share that was killed, by folder and of all. */
export function reportOf(results: readonly Result[]): string {
  const survivors = results.filter(({ outcome }) => outcome === 'survived');
  const folders = [...new Set(results.map(({ folder }) => folder))].toSorted();
  const counted = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  return [
    `${survivors.length} survivors. (A survivor may be equal in effect, and a test in test/browser or test/e2e may notice it.)`,
    ...survivors.map(showSurvivor),
    '',
    'Killed, by folder:',
    ...folders.map(
      (folder) => `  ${folder}: ${showShare(killedOf(results.filter((result) => result.folder === folder)))}`,
    ),
    `  all: ${showShare(killedOf(results))}`,
    `Of these the clock stopped ${counted('stalled')}, and only the compiler refuses ${counted('refused')}.`,
  ].join('\n');
}

function killedOf(results: readonly Result[]): Share {
  return shareOf(results.map(({ outcome }) => outcome !== 'survived'));
}

function showSurvivor({ path, line, kind, before, after, reached, ran }: Result): string {
  const files = reached === 0 ? 'no test file reaches it' : `${ran} of ${reached} test files that reach it were run`;
  return `${path}:${line} (${kind}; ${files})\n    ${before}\n  > ${after}`;
}
