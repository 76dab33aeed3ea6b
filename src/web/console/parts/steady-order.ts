import { useRef } from 'preact/hooks';

/** Rows in the order in which they were first shown, new ones below: what somebody looks at does not move away. */
export function useSteadyOrder<T>(rows: readonly T[], idOf: (row: T) => string): readonly T[] {
  const places = useRef(new Map<string, number>());
  for (const row of rows) {
    const id = idOf(row);
    if (!places.current.has(id)) places.current.set(id, places.current.size);
  }
  const placeOf = (row: T): number => places.current.get(idOf(row)) ?? 0;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
