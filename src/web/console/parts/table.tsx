import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Shown } from '../data/list.ts';
import { useKeys } from './keys.ts';

export interface Column<R> {
  readonly title: string;
  readonly cell: (row: R) => ComponentChildren;
  readonly isNumber?: boolean;
}

interface Props<R> {
  readonly caption: string;
  /** The first names the row. */
  readonly columns: readonly Column<R>[];
  readonly rows: readonly Shown<R>[];
}

/** A table; on a phone each row is a card. `j` and `k` go from link to link of its first column. */
export function Table<R>({ caption, columns, rows }: Props<R>) {
  const table = useRef<HTMLTableElement>(null);
  const go = (by: 1 | -1): void => {
    const links = [...(table.current?.querySelectorAll<HTMLElement>('tbody th a') ?? [])];
    const here = links.indexOf(document.activeElement as HTMLElement);
    links[Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
  };
  useKeys({ j: () => go(1), k: () => go(-1) });
  return (
    <div class="sheet">
      <table ref={table}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, row, isPast }) => (
            <tr key={key} class={isPast ? 'past' : ''} data-row={key}>
              {columns.map(({ title, cell, isNumber }, index) =>
                index === 0 ? (
                  <th key={title} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={title} class={isNumber ? 'number' : ''} data-title={title}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
