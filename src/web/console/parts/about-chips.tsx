import { ABOUT, type About } from '../data/session-timeline.ts';
import { countText } from '../words/format.ts';

interface Props {
  /** None is all. */
  readonly chosen: readonly About[];
  /** Undefined until they are known. */
  readonly counts: Partial<Record<About, number>> | undefined;
  /** Those of which there may be more. */
  readonly atLeast: readonly About[];
  readonly onChoose: (chosen: readonly About[]) => void;
}

/** What a session's timeline is about: each may be chosen, with how many rows it has. */
export function AboutChips({ chosen, counts, atLeast, onChoose }: Props) {
  const toggle = (about: About): void =>
    onChoose(chosen.includes(about) ? chosen.filter((one) => one !== about) : [...chosen, about]);
  return (
    <div class="about" role="group" aria-label="Shown">
      <button type="button" aria-pressed={chosen.length === 0} onClick={() => onChoose([])}>
        All
      </button>
      {(Object.entries(ABOUT) as [About, string][]).map(([about, words]) => (
        <button key={about} type="button" aria-pressed={chosen.includes(about)} onClick={() => toggle(about)}>
          {words}{' '}
          {counts !== undefined && (
            <span class="soft figure">
              {countText(counts[about] ?? 0)}
              {atLeast.includes(about) && '+'}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
