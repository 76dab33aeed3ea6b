import type { ComponentChildren } from 'preact';
import type { Shown } from '../data/list.ts';

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

/** A table; on a phone each row is a card. */
export function Table<R>({ caption, columns, rows }: Props<R>) {
  return (
    <div class="sheet">
      <table>
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
