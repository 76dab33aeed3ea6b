import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { countText } from '../labels/format.ts';

export interface Bar {
  readonly label: string;
  readonly words?: ComponentChildren;
  readonly count: number;
  /** The count in the preceding period. */
  readonly before?: number;
  readonly href?: string;
}

interface Props {
  /** Column titles for screen readers, which get a table. */
  readonly columns: readonly [label: string, count: string];
  readonly bars: readonly Bar[];
  /** Whether the bars have an order of their own. Otherwise the largest comes first. */
  readonly isOrdered?: boolean;
}

const MAX_BARS = 8;

/** Counts with a bar each, which may link to what was counted. */
export function Bars({ columns, bars, isOrdered = false }: Props) {
  const steady = useSteadyOrder(isOrdered ? bars : bars.toSorted((a, b) => b.count - a.count), ({ label }) => label);
  const shown = steady.slice(0, MAX_BARS);
  const left = steady.slice(MAX_BARS);
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const hasBefore = bars.some(({ before }) => before !== undefined);
  return (
    <div>
      <table class="plain bars">
        <thead class="unseen">
          <tr>
            <th scope="col">{columns[0]}</th>
            <td />
            <th scope="col">{columns[1]}</th>
            {hasBefore && <th scope="col">Before</th>}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ label, words = label, count, before, href }) => (
            <tr key={label}>
              <th scope="row">{href === undefined ? words : <a href={href}>{words}</a>}</th>
              <td class="share">
                <progress max={most} value={count} aria-hidden="true" tabIndex={-1} />
              </td>
              <td class="number">{countText(count)}</td>
              {hasBefore && <td class="number before">{before === undefined ? '' : `was ${countText(before)}`}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {left.length > 0 && (
        <p class="soft">
          and {countText(left.length)} {left.length === 1 ? 'other' : 'others'}:{' '}
          {countText(left.reduce((sum, { count }) => sum + count, 0))}
        </p>
      )}
    </div>
  );
}

/** Rows in the order in which they were first shown, new ones last, so that what somebody looks at does not move away. */
function useSteadyOrder<T>(rows: readonly T[], idOf: (row: T) => string): readonly T[] {
  const places = useRef(new Map<string, number>());
  for (const row of rows) {
    const id = idOf(row);
    if (!places.current.has(id)) places.current.set(id, places.current.size);
  }
  const placeOf = (row: T): number => places.current.get(idOf(row)) ?? 0;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
