import type { ComponentChildren } from 'preact';
import { isPassing } from '../data/api.ts';
import type { Resource } from '../data/resource.ts';
import { Failed, Loading } from './view-states.tsx';

interface Props<T> {
  readonly resource: Pick<Resource<T>, 'body' | 'failure'>;
  /** As in "This server does not have …". */
  readonly what: string;
  readonly children: (body: T) => ComponentChildren;
}

/** What was read, or why there is nothing. What is shown stays while the service is away: the top of the page says so. */
export function Shown<T>({ resource: { body, failure }, what, children }: Props<T>) {
  const why = failure.value;
  if (why !== undefined && !(body.value !== undefined && isPassing(why))) return <Failed failure={why} what={what} />;
  return body.value === undefined ? <Loading /> : <>{children(body.value)}</>;
}
