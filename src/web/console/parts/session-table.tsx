import { useEffect, useRef } from 'preact/hooks';
import type { SessionRows } from '../data/session-rows.ts';
import { useKeys } from './keys.ts';
import { More } from './more.tsx';
import { SessionRow } from './session-row.tsx';
import { useNarrow } from './use-narrow.ts';
import { useVirtualRows } from './virtual-rows.ts';

interface Props {
  readonly rows: SessionRows;
  readonly onEnd: (refs: readonly string[]) => void;
}

const COLUMNS: readonly (readonly [name: string, title: string])[] = [
  ['select', ''],
  ['state', 'State'],
  ['place', 'Tenant / agent'],
  ['key', 'Key'],
  ['subject', 'Subject'],
  ['span', 'Length'],
  ['next', 'Next, or end'],
  ['cost', 'Cost'],
  ['seen', 'Seen'],
];
const ROW = 32;
const NARROW_ROW = 64;

/** A table of which only the rows in sight are drawn. The keyboard goes from row to row; the row it is at has the focus. */
export function SessionTable({ rows, onEnd }: Props) {
  const { current, selected } = rows;
  const refs = rows.refs.value;
  const scroller = useRef<HTMLDivElement>(null);
  const { items, before, after, scrollTo } = useVirtualRows(scroller, refs.length, useNarrow() ? NARROW_ROW : ROW);

  const toggle = (ref: string): void => {
    const next = new Set(selected.value);
    if (!next.delete(ref)) next.add(ref);
    selected.value = next;
  };
  const go = (by: number): void => {
    const here = current.peek() === undefined ? -1 : refs.indexOf(current.peek() ?? '');
    const there = Math.max(0, Math.min(refs.length - 1, here + by));
    current.value = refs[there];
    scrollTo(there);
  };
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    x: () => current.value !== undefined && toggle(current.value),
    e: () => onEnd(selected.value.size > 0 ? [...selected.value] : current.value === undefined ? [] : [current.value]),
  });
  // Whoever comes back is where they were.
  useEffect(() => {
    if (current.peek() !== undefined) scrollTo(refs.indexOf(current.peek() ?? ''));
  }, []);
  // A row may be drawn only after the list was scrolled to it.
  useEffect(() => {
    const row = scroller.current?.querySelector(`[data-ref="${CSS.escape(current.value ?? '')}"] a`);
    if (row instanceof HTMLElement && document.activeElement !== row) row.focus({ preventScroll: true });
  }, [current.value, items.some(({ index }) => refs[index] === current.value)]);

  return (
    <div ref={scroller} class="list">
      <table aria-rowcount={refs.length + 1}>
        <caption class="hidden">Sessions</caption>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(([name, title]) =>
              name === 'select' ? (
                <td key={name} class="c-select" />
              ) : (
                <th key={name} class={`c-${name}`} scope="col">
                  {title}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} />
          {items.map(({ index }) => {
            const ref = refs[index] ?? '';
            const row = rows.rowOf(ref);
            return row === undefined ? null : (
              <SessionRow
                key={ref}
                row={row}
                position={index + 2}
                isCurrent={ref === current.value}
                isSelected={selected.value.has(ref)}
                onSelect={() => toggle(ref)}
              />
            );
          })}
          <Spacer height={after} />
        </tbody>
      </table>
      <More cursor={rows.nextCursor.value} more={rows.more} words="Older sessions" />
    </div>
  );
}

function Spacer({ height }: { readonly height: number }) {
  return (
    <tr class="spacer" aria-hidden="true">
      <td style={{ height: `${height}px` }} />
    </tr>
  );
}
