import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, type ReadMore } from './api.ts';
import { UNTOLD_MS } from './live.ts';
import { useResource } from './resource.ts';
import type { EventPage, OperatorEvent } from './shapes.ts';
import { joined } from './timeline.ts';

export type About = NonNullable<OperatorEvent['about']>;

/** What rows can be about, with labels, in the order in which they are offered. */
export const ABOUT: Readonly<Record<About, string>> = {
  session: 'Session',
  call: 'Calls',
  usage: 'Responses and usage',
  tool: 'Tools',
  warning: 'Warnings',
  webhook: 'Webhooks',
  operator: 'Operators',
  refusal: 'Refusals',
};

const PAGE = 100;

interface ReadRows {
  /** The address that was requested. */
  readonly path: string;
  readonly events: readonly OperatorEvent[];
  readonly cursor: string | null;
}

/** What the page's address chooses; an empty list stands for everything. */
export function chosenOf(text: string | undefined): readonly About[] {
  const asked = (text ?? '').split(',');
  return (Object.keys(ABOUT) as About[]).filter((about) => asked.includes(about));
}

/** Everything that happened to a session: the newest page, which is read again as it changes, and older pages on request. */
export function useSessionTimeline(ref: string, chosen: readonly About[]) {
  const about = (chosen.length === 0 ? Object.keys(ABOUT) : chosen).join(',');
  const path = `/api/operator/sessions/${ref}/events?about=${about}&limit=${PAGE}`;
  const { body, failure } = useResource<EventPage>(path, { topics: ['counts'], ref }, { besideFeedMs: UNTOLD_MS });
  const shown = useSignal<ReadRows>({ path, events: [], cursor: null });
  const page = body.value;
  useEffect(() => {
    if (page === undefined) return;
    const before = shown.peek();
    const { events, isJoined } = joined(
      page.events,
      page.nextCursor === null,
      before.path === path ? before.events : [],
    );
    shown.value = { path, events, cursor: isJoined ? before.cursor : page.nextCursor };
  }, [page, path]);
  const more: ReadMore = async () => {
    const { cursor } = shown.peek();
    if (cursor === null) return undefined;
    const answer = await get<EventPage>(`${path}&cursor=${encodeURIComponent(cursor)}`);
    if (!answer.ok) return answer.failure;
    const now = shown.peek();
    // The operator has chosen something else meanwhile, which is shown instead.
    if (now.path !== path || now.cursor !== cursor) return undefined;
    shown.value = { path, events: [...now.events, ...answer.body.events], cursor: answer.body.nextCursor };
    return undefined;
  };
  const isShown = shown.value.path === path && page !== undefined;
  const hasMore = (isShown ? shown.value.cursor : (page?.nextCursor ?? null)) !== null;
  return {
    /** Undefined until they have been read. */
    events: isShown ? shown.value.events : page?.events,
    counts: page?.counts,
    atLeast: page?.atLeast ?? [],
    failure: failure.value,
    /** Undefined if there is nothing older. */
    more: hasMore ? more : undefined,
  };
}
