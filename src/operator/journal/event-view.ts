import { iso, isoOrNull } from '../../kernel/time.ts';
import type { OperatorEvent } from '../../protocol/operator/event.ts';
import type { FlatDetail, NewEntry } from '../../stores/journal/contract.ts';

/** How operators see what a machine did, or a note of a session. @param id what it is fetched by */
export function viewOfEvent(entry: NewEntry<'transition' | 'note'>, id: string): OperatorEvent {
  const { atMs, node, requestId } = entry;
  return { id, at: iso(atMs), ...(entry.kind === 'note' ? ofNote(entry) : ofTransition(entry)), node, requestId };
}

type Seen = Omit<OperatorEvent, 'id' | 'at' | 'node' | 'requestId'>;

function ofNote({ code, detail }: NewEntry<'note'>): Seen {
  return { kind: code, event: null, from: null, to: null, steps: [], guards: [], ...recordOf(null, detail) };
}

function ofTransition({ code, detail }: NewEntry<'transition'>): Seen {
  const { change, from, to, steps, guards, version, record } = detail;
  return {
    kind: change,
    event: code,
    from,
    to,
    steps: steps.map(({ actions, ...step }) => ({ ...step, actions: [...actions] })),
    guards: [...guards],
    ...recordOf(version, record),
  };
}

function recordOf(version: number | null, detail: FlatDetail): Pick<OperatorEvent, 'record' | 'detail'> {
  const { lastSeenAtMs, lastActivityAtMs, settledAtMs, ...rest } = detail;
  return {
    record: {
      version,
      lastSeenAt: instantOf(lastSeenAtMs),
      lastActivityAt: instantOf(lastActivityAtMs),
      settledAt: instantOf(settledAtMs),
    },
    detail: rest,
  };
}

/** Only voice sessions have these times. */
const instantOf = (atMs: unknown): string | null => isoOrNull(typeof atMs === 'number' ? atMs : null);
