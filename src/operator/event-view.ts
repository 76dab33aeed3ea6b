import { iso } from '../kernel/time.ts';
import type { OperatorEvent } from '../protocol/operator/event.ts';
import type { NewActorEvent } from '../stores/actor-events/contract.ts';

/** How operators see an event of a machine. @param id what it is fetched by */
export function viewOfEvent(kept: NewActorEvent, id: string): OperatorEvent {
  const { version, atMs, kind, event, from, to, steps, guards, node, requestId } = kept;
  const { lastSeenAtMs, lastActivityAtMs, settledAtMs, ...detail } = kept.detail;
  return {
    id,
    at: iso(atMs),
    kind,
    event,
    from,
    to,
    steps: [...steps].map(({ actions, ...step }) => ({ ...step, actions: [...actions] })),
    guards: [...guards],
    record: {
      version,
      lastSeenAt: isoOrNull(lastSeenAtMs),
      lastActivityAt: isoOrNull(lastActivityAtMs),
      settledAt: isoOrNull(settledAtMs),
    },
    detail,
    node,
    requestId,
  };
}

const isoOrNull = (atMs: unknown): string | null => (typeof atMs === 'number' ? iso(atMs) : null);
