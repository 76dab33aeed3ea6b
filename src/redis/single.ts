import type { Route } from './route.ts';
import { ServerLink } from './server-link.ts';

/** One server (or what stands for one: a primary with replicas behind a name) serves all tags, so that a tick is one script call. */
export function createSingleRoute(url: string, deadlineMs: number, onLost: () => void): Route {
  const link = new ServerLink([url], deadlineMs, { onLost });
  return {
    groupOf: () => 0,
    send: (_tag, args, deadlineAt) => link.send(args, deadlineAt),
    tagOfEach: () => Promise.resolve([0]),
    close: () => link.close(),
  };
}
