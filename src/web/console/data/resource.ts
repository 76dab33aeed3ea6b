/** The answer from one address of the API: shown at once if it was read before, and read again while it is shown. */
import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, isPassing, type Failure } from './api.ts';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Watch } from './feed.ts';
import { isPaused, isUnread, keepFresh, noteHeard, unlessRefused } from './live.ts';

export interface Resource<T> {
  readonly body: Signal<T | undefined>;
  /** The answer's text, for copying. */
  readonly text: Signal<string>;
  /** Why the last reading failed; the previous body stays. */
  readonly failure: Signal<Failure | undefined>;
  /** Reads the address. @returns whether the service gave a complete answer */
  load(): Promise<boolean>;
}

const resources = new Map<string, Resource<unknown>>();
/** How many recent resources are kept, so that they can be shown again at once. */
const MAX_KEPT = 30;

function resourceOf<T>(path: string, asked: () => string, partly: Partly<T> | undefined): Resource<T> {
  const known = resources.get(path) as Resource<T> | undefined;
  if (known !== undefined) return known;
  const body = signal<T | undefined>(undefined);
  const text = signal('');
  const failure = signal<Failure | undefined>(undefined);
  const resource: Resource<T> = {
    body,
    text,
    failure,
    async load() {
      const answer = await get<T>(asked());
      if (!answer.ok) {
        failure.value = answer.failure;
        return !isPassing(answer.failure);
      }
      body.value = partly === undefined ? answer.body : partly.over(answer.body, body.peek());
      text.value = answer.text;
      failure.value = undefined;
      if (partly !== undefined) isUnread.value = !partly.isWhole(answer.body);
      if (partly !== undefined && isUnread.peek()) return false;
      noteHeard();
      return true;
    },
  };
  resources.set(path, resource);
  const [oldest] = resources.keys();
  if (resources.size > MAX_KEPT && oldest !== undefined) resources.delete(oldest);
  return resource;
}

/** For an answer that has several parts, of which some may be missing for now. */
interface Partly<T> {
  readonly isWhole: (read: T) => boolean;
  /** Combines what was read with what was shown before. */
  readonly over: (read: T, before: T | undefined) => T;
}

interface Reading<T> {
  /** The address to request, if it contains times that move, such as an hour ago. */
  readonly asked?: () => string;
  /** How often it is read in addition to the feed, if the feed does not report everything that is shown. */
  readonly besideFeedMs?: number;
  /** Whether it no longer changes. Then it is read only until that succeeds. */
  readonly isPast?: boolean;
  /** Applies a frame of the feed to the body. If set, frames cause no reading. */
  readonly after?: (body: T, frame: FeedFrame) => T;
  readonly partly?: Partly<T>;
}

/** Reads an address while a view shows it, and again whenever the feed reports something that is watched. */
export function useResource<T>(
  path: string,
  watch: Watch,
  { asked = () => path, besideFeedMs, isPast = false, after, partly }: Reading<T> = {},
): Resource<T> {
  const resource = resourceOf<T>(path, asked, partly);
  useEffect(() => {
    const isKnown = (): boolean => isPast && resource.body.peek() !== undefined;
    let isReading = false;
    const read = (): Promise<boolean> => {
      isReading = true;
      return resource.load().finally(() => (isReading = false));
    };
    // If it no longer changes, the answer on its way is as good as another one.
    const isUnderWay = (): boolean => isPast && isReading;
    if (!isKnown()) void read();
    const refresh = unlessRefused(resource.failure, () => (isKnown() || isUnderWay() ? Promise.resolve(true) : read()));
    const take = (frame: FeedFrame): boolean => {
      const body = resource.body.peek();
      if (after !== undefined && body !== undefined && !isPaused.peek()) resource.body.value = after(body, frame);
      return false;
    };
    return keepFresh({ refresh, besideFeedMs, take: after === undefined ? undefined : take }, watch);
  }, [resource]);
  return resource;
}
