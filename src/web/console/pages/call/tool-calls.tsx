import type { CallDetail } from '../../data/shapes.ts';
import { latencyText } from '../../labels/format.ts';
import { Section } from '../../components/card.tsx';
import { Moment } from '../../components/times.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Problem } from '../../components/view-states.tsx';

type ToolCall = CallDetail['tools'][number];

const COLUMNS: readonly Column<ToolCall>[] = [
  { title: 'Tool', cell: ({ name }) => <code class="break">{name}</code>, isName: true },
  { title: 'Asked', cell: ({ askedAt }) => <Moment at={askedAt} /> },
  { title: 'Result', cell: (call) => <Result call={call} /> },
  { title: 'Took', cell: ({ ms }) => (ms === null ? '–' : latencyText(ms)), style: 'number' },
];

const FAILED: ReadonlySet<ToolCall['state']> = new Set(['failed', 'timed_out']);

/** A result. If the agent got no answer, it has a warning too, because that is what visitors complain about. */
function Result({ call: { state, code, detail, endReason } }: { readonly call: ToolCall }) {
  const end = endReason == null ? '' : `, and ended the session: ${endReason}`;
  const why = detail == null ? '' : ` (${detail})`;
  const words = `${(code ?? state).replaceAll('_', ' ')}${why}${end}`;
  return FAILED.has(state) ? <Problem>{words}</Problem> : <>{words}</>;
}

/** The server tools that were called in a call; nothing if there were none. */
export function ToolCalls({ tools }: { readonly tools: readonly ToolCall[] }) {
  if (tools.length === 0) return null;
  const rows = tools.map((row, at) => ({ key: String(at), row }));
  return (
    <Section title="Tools that Switchboard called">
      <Table caption="Tools that Switchboard called" columns={COLUMNS} rows={rows} />
    </Section>
  );
}
