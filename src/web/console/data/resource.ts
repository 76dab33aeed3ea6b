/** What one address of the API answered: shown at once when it was read before, read again while it is shown. */
import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, isForbidden, isPassing, type Failure } from './api.ts';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import type { Watch } from './feed.ts';
import { isPaused, isUnread, keepFresh, noteHeard } from './live.ts';

export interface Resource<T> {
  readonly body: Signal<T | undefined>;
  /** The bytes of the answer, for copying. */
  readonly text: Signal<string>;
  /** Why the last reading failed; the body before it stays. */
  readonly failure: Signal<Failure | undefined>;
  /** @returns whether the service answered, all of it */
  load(): Promise<boolean>;
}

const resources = new Map<string, Resource<unknown>>();
/** What was looked at lately comes back at once. */
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

/** For what the service answers in parts, of which some may be missing for now. */
interface Partly<T> {
  readonly isWhole: (read: T) => boolean;
  /** What is shown of it over what was shown before. */
  readonly over: (read: T, before: T | undefined) => T;
}

interface Reading<T> {
  /** What is asked, where the address tells of times that move, such as an hour ago. */
  readonly asked?: () => string;
  /** How often it is read beside the feed, where that does not tell of all that is shown. */
  readonly besideFeedMs?: number;
  /** Whether it changes no more: then it is read until that succeeds. */
  readonly isPast?: boolean;
  /** What is shown after a frame of the feed: then nothing is read because of it. */
  readonly after?: (body: T, frame: FeedFrame) => T;
  readonly partly?: Partly<T>;
}

/** Reads an address while a view shows it, again whenever the feed tells of what is watched. */
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
    // The answer that is under way tells what changes no more as well as another would.
    const isUnderWay = (): boolean => isPast && isReading;
    if (!isKnown()) void read();
    // Each asking would be one more refusal among those that operators look at.
    const isRefused = (): boolean =>
      resource.failure.peek() !== undefined && isForbidden(resource.failure.peek() as Failure);
    const refresh = (): Promise<boolean> =>
      isPaused.peek() || isKnown() || isUnderWay() || isRefused() ? Promise.resolve(true) : read();
    const take = (frame: FeedFrame): boolean => {
      const body = resource.body.peek();
      if (after !== undefined && body !== undefined && !isPaused.peek()) resource.body.value = after(body, frame);
      return false;
    };
    return keepFresh({ refresh, besideFeedMs, take: after === undefined ? undefined : take }, watch);
  }, [resource]);
  return resource;
}
