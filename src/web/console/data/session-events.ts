import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, type ReadMore } from './api.ts';
import type { EventPage, OperatorEvent, SessionDetail } from './shapes.ts';

const PAGE = 200;

interface Older {
  readonly events: readonly OperatorEvent[];
  /** Undefined before the first page was asked for. */
  readonly cursor: string | null | undefined;
}

const none: Older = { events: [], cursor: undefined };

/** The events of a session: those it came with, and older ones page by page. */
export function useSessionEvents(ref: string, detail: SessionDetail | undefined) {
  const older = useSignal<Older>(none);
  useEffect(() => {
    older.value = none;
  }, [ref]);
  const newest = detail?.events ?? [];
  const known = new Set(newest.map(({ id }) => id));
  const { events, cursor } = older.value;
  const more: ReadMore = async () => {
    const query = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const answer = await get<EventPage>(`/api/operator/sessions/${ref}/events?limit=${PAGE}${query}`);
    if (!answer.ok) return answer.failure;
    const page = answer.body;
    older.value = { events: [...older.peek().events, ...page.events], cursor: page.nextCursor };
    return undefined;
  };
  return {
    events: [...newest, ...events.filter(({ id }) => !known.has(id))],
    hasMore: cursor === undefined ? (detail?.moreEvents ?? false) : cursor !== null,
    more,
  };
}
