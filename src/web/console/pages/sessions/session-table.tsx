import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ending } from '../../data/ending.ts';
import type { Row } from '../../data/row-store.ts';
import { now } from '../../data/server-time.ts';
import type { SessionRows } from '../../data/session-rows.ts';
import type { Session } from '../../data/shapes.ts';
import { useKeys } from '../../components/shortcuts.ts';
import { StateMark } from '../../components/status-marks.tsx';
import { Ago, Countdown, Span } from '../../components/times.tsx';
import { useSorted } from '../../components/sorting.tsx';
import { More, Table, type Column } from '../../components/table.tsx';
import { moneyText } from '../../../../protocol/money.ts';
import { agentName, shortName } from '../../labels/format.ts';
import { reasonWords } from '../../labels/sessions.ts';
import { useVirtualRows } from './virtual-rows.ts';

interface Props {
  readonly rows: SessionRows;
  readonly onEnd: (refs: readonly string[]) => void;
}

/** A table that draws only the rows in view. The keyboard moves from row to row; the current row has the focus. */
export function SessionTable({ rows, onEnd }: Props) {
  const { current, selected } = rows;
  const shown = useSorted<Session, Row<Session>>(COLUMNS, rows.shown.value);
  const refs = shown.map(({ key }) => key);
  const scroller = useRef<HTMLDivElement>(null);
  const { items, before, after, scrollTo } = useVirtualRows(scroller, refs.length);

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
  // A row whose link gets the focus in any way becomes the current row.
  useEffect(() => {
    const note = ({ target }: FocusEvent): void => {
      const ref =
        target instanceof HTMLAnchorElement ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined;
      if (ref !== undefined) current.value = ref;
    };
    const box = scroller.current;
    box?.addEventListener('focusin', note);
    return () => box?.removeEventListener('focusin', note);
  }, []);
  // The row may be drawn only after the list has scrolled to it. Together with the drawing, so that Enter opens the row that is marked.
  useLayoutEffect(() => {
    const row = scroller.current?.querySelector(`[data-row="${CSS.escape(current.value ?? '')}"] a`);
    if (row instanceof HTMLElement && document.activeElement !== row) row.focus({ preventScroll: true });
  }, [current.value, items.some(({ index }) => refs[index] === current.value)]);

  const select: Column<Session> = {
    title: '',
    style: 'c-select',
    cell: ({ ref, emailHash }) => (
      <input
        type="checkbox"
        aria-label={`Select ${shortName(emailHash)}`}
        checked={selected.value.has(ref)}
        onChange={() => toggle(ref)}
      />
    ),
  };
  const styleOf = ({ ref, state }: Session): string =>
    `${ref === current.value ? 'current' : ''} ${state === 'ended' ? 'past' : ''}`;
  return (
    <Table
      caption="Sessions"
      columns={[select, ...COLUMNS]}
      rows={items.flatMap(({ index }) => shown[index] ?? [])}
      styleOf={styleOf}
      drawn={{ count: refs.length, first: items[0]?.index ?? 0, before, after }}
      box={scroller}
      isPart={rows.nextCursor.value !== null}
    >
      <More cursor={rows.nextCursor.value} more={rows.more} words="Older sessions" />
    </Table>
  );
}

const COLUMNS: readonly Column<Session>[] = [
  { title: 'State', sortBy: ({ state }) => state, style: 'c-state', cell: ({ state }) => <StateMark state={state} /> },
  {
    title: 'Tenant / agent',
    sortBy: ({ tenantId, agentId }) => `${tenantId}/${agentId ?? ''}`,
    style: 'c-place',
    isName: true,
    cell: (session) => <a href={`/console/sessions/${session.ref}`}>{agentName(session)}</a>,
  },
  {
    title: 'Key',
    sortBy: ({ keyId, caller }) => keyId ?? caller,
    style: 'c-key',
    cell: ({ keyId, caller }) => keyId ?? caller,
  },
  {
    title: 'Subject',
    sortBy: ({ emailHash }) => emailHash,
    style: 'c-subject',
    cell: ({ emailHash }) => <code>{shortName(emailHash)}</code>,
  },
  {
    title: 'Length',
    sortBy: ({ session, endedAt }) =>
      (endedAt === null ? now.peek() : Date.parse(endedAt)) - Date.parse(session.startedAt),
    style: 'c-span number',
    cell: ({ session, endedAt }) => <Span from={session.startedAt} to={endedAt} />,
  },
  { title: 'Next, or end', style: 'c-next', cell: (session) => <Next session={session} /> },
  {
    title: 'Cost',
    sortBy: ({ usage }) => usage.dollars,
    style: 'c-cost number',
    cell: ({ usage }) => moneyText(usage.dollars),
  },
  {
    title: 'Seen',
    sortBy: ({ session, endedAt }) => endedAt ?? session.lastSeenAt,
    style: 'c-seen number',
    cell: ({ session, endedAt }) => <Ago at={endedAt ?? session.lastSeenAt} isBare />,
  },
];

/** What happens next, or why it ended. */
function Next({ session: { ref, state, endReason, deadline } }: { readonly session: Session }) {
  if (state === 'ended') return <>{reasonWords(endReason)}</>;
  if (ending.value.has(ref)) return <em>ending…</em>;
  if (deadline === null) return null;
  return (
    <>
      {deadline.to === 'ended' ? 'ends' : deadline.to} <Countdown to={deadline.at} />
    </>
  );
}
