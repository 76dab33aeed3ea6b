import { ABOUT, type About } from '../data/session-timeline.ts';
import { countText } from '../words/format.ts';

interface Props {
  /** None is all. */
  readonly chosen: readonly About[];
  /** Undefined until they are known. */
  readonly counts: Partial<Record<About, number>> | undefined;
  readonly onChoose: (chosen: readonly About[]) => void;
}

/** What the server reads of these together, and of each of those, at most: there may be more. */
const MOST_TOGETHER = 10_000;
const TOGETHER: readonly About[] = ['session', 'call', 'operator', 'warning'];
const MOST: Partial<Record<About, number>> = { refusal: 200, webhook: 1000 };

function countOf(about: About, counts: Partial<Record<About, number>>): string {
  const count = (one: About): number => counts[one] ?? 0;
  // Reports of usage are among what is read together, too.
  const together = [...TOGETHER, 'usage' as const].reduce((sum, one) => sum + count(one), 0);
  const isCut = TOGETHER.includes(about) ? together >= MOST_TOGETHER : count(about) >= (MOST[about] ?? Infinity);
  return countText(count(about)) + (isCut && count(about) > 0 ? '+' : '');
}

/** What a session's timeline is about: each may be chosen, with how many rows it has. */
export function AboutChips({ chosen, counts, onChoose }: Props) {
  const toggle = (about: About): void =>
    onChoose(chosen.includes(about) ? chosen.filter((one) => one !== about) : [...chosen, about]);
  return (
    <div class="about" role="group" aria-label="Shown">
      <button type="button" aria-pressed={chosen.length === 0} onClick={() => onChoose([])}>
        All
      </button>
      {(Object.entries(ABOUT) as [About, string][]).map(([about, words]) => (
        <button key={about} type="button" aria-pressed={chosen.includes(about)} onClick={() => toggle(about)}>
          {words} {counts !== undefined && <span class="soft figure">{countOf(about, counts)}</span>}
        </button>
      ))}
    </div>
  );
}
