import { useLocation } from 'preact-iso';
import type { OperatorEvent } from '../data/shapes.ts';
import { stepFrom } from '../data/timeline.ts';
import { useKeys } from './keys.ts';

/** Steps through what a machine did; the address of the page keeps at which event it stands. @param page the address of now */
export function useSteps(page: string, events: readonly OperatorEvent[]) {
  const { query, route } = useLocation();
  const at = query['at'];
  const step = (to: string | undefined): void => route(to === undefined ? page : `${page}?at=${to}`, true);
  useKeys({
    '[': () => step(stepFrom(events, at, -1)),
    ']': () => step(stepFrom(events, at, 1)),
    Home: () => step(stepFrom(events, at, 'start')),
    End: () => step(undefined),
  });
  return { at, step, here: events.find(({ id }) => id === at) };
}
