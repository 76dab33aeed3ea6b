import { Batch } from './batch.ts';
import { createClusterRoute } from './cluster.ts';
import { faultOf } from './faults.ts';
import type { Guard } from './guard.ts';
import type { Route } from './route.ts';
import { ServerLink } from './server-link.ts';
import { createSingleRoute } from './single.ts';

export interface RedisOptions {
  /** REDIS_URL: one server (or a primary behind one name), or several servers of one Redis Cluster. */
  readonly urls: readonly string[];
  /** How long a call may take, in milliseconds. */
  readonly deadlineMs?: number;
  /** Operations that are waited for at once. */
  readonly maxPending?: number;
}

/** Who listens on a channel. */
export interface Ear {
  /** Whether it hears. */
  readonly isUp: boolean;
  close(): Promise<void>;
}

/** What the engines ask of Redis. Every method is @throws Unavailable when Redis is away, hangs or is overloaded. */
export interface Redis {
  /** See `Batch.run`. */
  run(tag: number, name: string, key: string, args: readonly string[], decides?: Guard): Promise<unknown>;
  /** See `Batch.under`. */
  under<T>(guard: Guard | undefined, work: () => T): T;
  /** See `Batch.bind`. */
  bind<T>(work: () => T): () => T;
  /** Operations that wait for their answers. */
  readonly pending: number;
  /** Tells all who listen on a channel, on whatever server of a cluster. */
  publish(channel: string, text: string): Promise<void>;
  /**
   * Hears a channel over a connection of its own, also after that was lost and is up again.
   * @param onUp is told each time that it hears from now on
   */
  listen(channel: string, hear: (text: string) => void, onUp: () => void): Ear;
  /** The time of the store, in milliseconds since the Unix epoch: of one server, the same for every node. */
  timeMs(): Promise<number>;
  /** Asks every server whether it answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A request waits for two calls at most before it meets a link that is known to be down: it is answered within 1.5 s. */
const DEADLINE_MS = 700;
const MAX_PENDING = 20_000;

/** Commands that belong to no tag go where this one's do. */
const ANY_TAG = 0;

/** Opens Redis lazily: the first use connects, and so does the first after every loss. */
export function openRedis({ urls, deadlineMs = DEADLINE_MS, maxPending = MAX_PENDING }: RedisOptions): Redis {
  const route: Route = urls.length === 1 ? createSingleRoute(urls[0] ?? '') : createClusterRoute(urls, deadlineMs);
  const batch = new Batch(route, { deadlineMs, maxPending });
  const ears = new Set<ServerLink>();
  const send = (args: readonly string[]) => attempt(() => route.send(ANY_TAG, args, performance.now() + deadlineMs));

  return {
    run: (tag, name, key, args, decides) => batch.run(tag, name, key, args, decides),
    under: (guard, work) => batch.under(guard, work),
    bind: (work) => batch.bind(work),
    get pending() {
      return batch.pending;
    },

    async publish(channel, text) {
      await send(['PUBLISH', channel, text]);
    },

    listen(channel, hear, onUp) {
      const ear = new ServerLink(urls, async (client) => {
        await client.subscribe(channel, hear);
        onUp();
      });
      ears.add(ear);
      ear.open();
      return {
        get isUp() {
          return ear.isUp;
        },
        async close() {
          ears.delete(ear);
          await ear.close();
        },
      };
    },

    async timeMs() {
      const [seconds, microseconds] = (await send(['TIME'])) as [string, string];
      return Number(seconds) * 1000 + Number(microseconds) / 1000;
    },

    async ping() {
      await attempt(() => route.sendToAll(['PING'], performance.now() + deadlineMs));
    },

    async close() {
      await Promise.all([route.close(), ...[...ears].map((ear) => ear.close())]);
    },
  };
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw faultOf(error);
  }
}
