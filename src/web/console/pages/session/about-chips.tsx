import { ABOUT, type About } from '../../data/session-timeline.ts';
import { countText } from '../../labels/format.ts';

interface Props {
  /** An empty list stands for everything. */
  readonly chosen: readonly About[];
  /** Undefined until known. */
  readonly counts: Partial<Record<About, number>> | undefined;
  /** Choices whose count reached its maximum: there may be more rows. */
  readonly atLeast: readonly About[];
  readonly onChoose: (chosen: readonly About[]) => void;
}

/** Chooses what a session's timeline is about; each choice shows its number of rows. */
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
