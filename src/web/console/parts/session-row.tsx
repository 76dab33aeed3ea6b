import { ending } from '../data/ending.ts';
import type { Row } from '../data/session-rows.ts';
import type { Session } from '../data/shapes.ts';
import { moneyText, shortName } from '../words/format.ts';
import { reasonWords } from '../words/reasons.ts';
import { Ago, Countdown, Span } from './moments.tsx';
import { StateMark } from './state-mark.tsx';

interface Props {
  readonly row: Row;
  /** Counted from 1, the header being the first. */
  readonly position: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

/** One session of the list: it is drawn again when it changes, and nothing around it is. */
export function SessionRow({ row, position, isCurrent, isSelected, onSelect }: Props) {
  const { ref, state, tenantId, agentId, keyId, emailHash, caller, endedAt, session, usage } = row.session.value;
  const style = [isCurrent ? 'current' : '', row.isPast.value || state === 'ended' ? 'past' : ''].join(' ').trim();
  const place = agentId === null ? tenantId : `${tenantId}/${agentId}`;
  return (
    <tr class={style} aria-rowindex={position} data-ref={ref}>
      <td class="c-select">
        <input type="checkbox" aria-label={`Select ${shortName(emailHash)}`} checked={isSelected} onChange={onSelect} />
      </td>
      <td class="c-state">
        <StateMark state={state} />
      </td>
      <th class="c-place" scope="row">
        <a href={`/console/sessions/${ref}`}>{place}</a>
      </th>
      <td class="c-key">{keyId ?? caller}</td>
      <td class="c-subject">
        <code>{shortName(emailHash)}</code>
      </td>
      <td class="c-span number">
        <Span from={session.startedAt} to={endedAt} />
      </td>
      <td class="c-next">
        <Next session={row.session.value} />
      </td>
      <td class="c-cost number">{moneyText(usage.dollars)}</td>
      <td class="c-seen number">
        <Ago at={endedAt ?? session.lastSeenAt} isBare />
      </td>
    </tr>
  );
}

/** What comes next, or what came. */
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
