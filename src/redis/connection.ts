import { PassiveHealth, type WorkHealth } from '../kernel/passive-health.ts';
import { Batch } from './batch.ts';
import { type Client, ServerLink } from './server-link.ts';
import { createClusterRoute, createSingleRoute, type Route } from './route.ts';
import { expectNoRefusal, faultOf, saysError } from './faults.ts';
import { tagged } from './tags.ts';

export interface RedisOptions {
  /** REDIS_URL: one server (or a primary behind one name), or several servers of one Redis Cluster. */
  readonly urls: readonly string[];
  /** The prefix of all keys and channels, so that several products can share a Redis; without braces. */
  readonly prefix: string;
  /** How long a call may take, in milliseconds. */
  readonly deadlineMs?: number;
  /** How many operations may wait at once. */
  readonly maxPending?: number;
}

/** A subscription to channels. */
export interface Subscription {
  /** Whether messages arrive. */
  readonly isUp: boolean;
  close(): Promise<void>;
}

/** What the engines need of Redis. All methods: @throws Unavailable when Redis is away, hangs or is overloaded. */
export interface Redis {
  /** Calls the listener whenever a connection that was up is lost, even while idle. It must not throw. */
  onLost(listen: () => void): void;
  /** How the operations of the last seconds fared. */
  readonly health: WorkHealth;
  /** See `Batch.run`. @param key its name within the tag */
  run(tag: number, name: string, key: string, args?: readonly string[]): Promise<unknown>;
  /** The full name of a key, if one server has them all: an operation may then touch keys other than its own. Undefined in a Cluster. */
  readonly wholeKey: ((tag: number, key: string) => string) | undefined;
  /** How many operations wait for their answers. */
  readonly pending: number;
  /** Sends a text to all who listen on a channel, on any server of a cluster. */
  publish(channel: string, text: string): Promise<void>;
  /**
   * Listens to channels over a connection of its own, which comes back after every loss.
   * @param channel required: if it fails, nothing is heard
   * @param more heard as well, if the user of Redis may listen to it
   * @param onUp called each time that messages arrive from now on, with whether those of `more` do
   */
  listen(
    channel: string,
    more: string,
    onMessage: (text: string) => void,
    onUp: (hearsMore: boolean) => void,
  ): Subscription;
  /** The store's time, in milliseconds since the Unix epoch: that of one server, the same for every node. */
  timeMs(): Promise<number>;
  /** Tries, on every server, everything that the operations do, writes included. */
  probe(): Promise<void>;
  /** Checks that all channels that are listened to are open and may be published to. */
  probeChannels(): Promise<void>;
  close(): Promise<void>;
}

/** After one unanswered call a request meets a link that is known to be down. The rest of its 1.5 s is for PostgreSQL (see `openExternal`). */
const DEADLINE_MS = 450;
const MAX_PENDING = 20_000;

/** Commands that belong to no tag go to the server of this one. */
const ANY_TAG = 0;

/** Opens Redis lazily: the first use connects, and so does the first use after every loss. */
export function openRedis(options: RedisOptions): Redis {
  const { urls, prefix, deadlineMs = DEADLINE_MS, maxPending = MAX_PENDING } = options;
  const lossListeners: (() => void)[] = [];
  const onLost = (): void => {
    for (const listen of lossListeners) listen();
  };
  const route: Route =
    urls.length === 1
      ? createSingleRoute(urls[0] ?? '', deadlineMs, onLost)
      : createClusterRoute(urls, deadlineMs, onLost);
  const health = new PassiveHealth();
  const batch = new Batch(route, { deadlineMs, maxPending, health });
  const before = `${prefix}:`;
  const wholeKey = (tag: number, key: string): string => before + tagged(tag, key);
  const subscriptions = new Map<ServerLink, readonly string[]>();
  const send = (args: readonly string[]) => attempt(() => route.send(ANY_TAG, args, performance.now() + deadlineMs));

  return {
    onLost: (listen) => void lossListeners.push(listen),

    health,

    wholeKey: urls.length === 1 ? wholeKey : undefined,
    run: (tag, name, key, args = []) => batch.run(tag, name, wholeKey(tag, key), args),
    get pending() {
      return batch.pending;
    },

    async publish(channel, text) {
      await send(['PUBLISH', before + channel, text]);
    },

    listen(channel, more, onMessage, onUp) {
      const onReady = async (client: Client): Promise<void> => {
        await client.subscribe(before + channel, onMessage);
        const hearsMore = await client.subscribe(before + more, onMessage).then(
          () => true,
          (error: unknown) => {
            if (!saysError(error, 'NOPERM')) throw error;
            return false;
          },
        );
        subscriptions.set(link, [before + channel, ...(hearsMore ? [before + more] : [])]);
        onUp(hearsMore);
      };
      const link = new ServerLink(urls, deadlineMs, { onReady });
      subscriptions.set(link, [before + channel]);
      link.open();
      return {
        get isUp() {
          return link.isUp;
        },
        async close() {
          subscriptions.delete(link);
          await link.close();
        },
      };
    },

    async timeMs() {
      const [seconds, microseconds] = (await send(['TIME'])) as [string, string];
      return Number(seconds) * 1000 + Number(microseconds) / 1000;
    },

    async probe() {
      const tags = await attempt(() => route.tagOfEach());
      const answers = await Promise.all(tags.map((tag) => batch.run(tag, 'probe', wholeKey(tag, 'probe'), [])));
      for (const answer of answers) expectNoRefusal(answer);
    },

    async probeChannels() {
      for (const [link, channels] of subscriptions) {
        if (link.down !== undefined) throw link.down;
        // Listeners do not take an empty text for a message.
        await Promise.all(channels.map((channel) => send(['PUBLISH', channel, ''])));
      }
    },

    async close() {
      await Promise.all([route.close(), ...[...subscriptions.keys()].map((link) => link.close())]);
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
