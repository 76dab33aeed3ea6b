import type { CallDetail } from '../data/shapes.ts';
import { Moment } from './moments.tsx';
import { Table, type Column } from './table.tsx';

type ToolCall = CallDetail['tools'][number];

const COLUMNS: readonly Column<ToolCall>[] = [
  { title: 'Tool', cell: ({ name }) => <code class="break">{name}</code>, isName: true },
  { title: 'Asked', cell: ({ askedAt }) => <Moment at={askedAt} /> },
  {
    title: 'Result',
    cell: ({ state, code, endReason }) =>
      `${(code ?? state).replaceAll('_', ' ')}${endReason == null ? '' : `, and ended the session: ${endReason}`}`,
  },
  { title: 'Took', cell: ({ ms }) => (ms === null ? '' : `${ms} ms`), style: 'number' },
];

/** The tools of the server that were called in a call; nothing where none was. */
export function ToolCalls({ tools }: { readonly tools: readonly ToolCall[] }) {
  if (tools.length === 0) return null;
  const rows = tools.map((row, at) => ({ key: String(at), row }));
  return (
    <section class="card" aria-labelledby="call-tools">
      <h2 id="call-tools">Tools that Switchboard called</h2>
      <Table caption="Tools that Switchboard called" columns={COLUMNS} rows={rows} />
    </section>
  );
}
