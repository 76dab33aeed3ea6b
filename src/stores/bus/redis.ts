import { BackgroundTasks, every } from '../../kernel/async.ts';
import type { Redis } from '../../redis/connection.ts';
import { tagOfSession } from '../../redis/tags.ts';
import type { Bus, FollowedSessions } from './contract.ts';
import { type BusMessage, readBusMessage, sessionOf } from '../../protocol/bus.ts';
import { FollowedInRedis, followersOf } from './followed.ts';
import { createInProcessBus, Listeners } from '../in-process.ts';

/** Every node listens on it. */
const CHANNEL = 'bus';
/** Announces that messages were lost: those of its sender, or those lost together with Redis' data. */
const GAP = 'gap';
const TICK_MS = 1000;
/**
 * For this long after an older build was heard, and after this node began to listen, there may be nodes that do not follow sessions: every node
 * announces itself every five seconds.
 */
const OLDER_MS = 15_000;
const HOW_TO_ALLOW =
  'let the user of Redis use &<REDIS_PREFIX>:bus* (docs/operations.md). Until then all nodes are told of all sessions.';

export interface RedisBusDeps {
  readonly redis: Pick<Redis, 'publish' | 'listen' | 'run' | 'onLost'>;
  /** The id of this node, with which its messages begin; it skips its own on arrival, because its listeners had them already. */
  readonly node: string;
  /** Gets the errors of listeners, and `Unavailable` for each message that could not be sent. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

export interface RedisBus extends Bus {
  readonly followed: FollowedSessions;
  /** Call it when Redis has lost its data: all nodes then follow their sessions anew and look for what they missed. */
  noteLoss(): void;
  /** Waits until published messages are sent, then stops listening. */
  close(): Promise<void>;
}

/**
 * The bus over Redis channels: one for all nodes, and one for each node with messages about the sessions that it follows. This node's own listeners
 * get a message before `publish` returns, even while Redis is away; what other nodes publish meanwhile is lost to it.
 */
export function createRedisBus({ redis, node: me, onError, now = () => performance.now() }: RedisBusDeps): RedisBus {
  const local = createInProcessBus(onError);
  const sending = new BackgroundTasks(failed);
  const gaps = new Listeners<[]>(onError);
  const sessions = new FollowedInRedis({ redis, node: me, now });
  /** Messages that could not be sent, and whose loss was not announced yet. */
  let unsent = 0;
  /** Whether this node may use the channels of single nodes. */
  let isDirected = false;
  /** Until then there may be an older build, which receives messages about sessions only on the channel of all nodes. */
  let olderUntilMs = now() + OLDER_MS;

  function receive(text: string): void {
    if (text.startsWith(me)) return;
    const said = text.slice(me.length);
    if (said === GAP) return void returned();
    const message = readBusMessage(said);
    if (message === undefined) return;
    if (message.type === 'node.here' && message.followsSessions !== true) olderUntilMs = now() + OLDER_MS;
    local.relay(message);
  }

  /** Redis may have come back without its data: registers this node's sessions again, then lets listeners look for what they missed. */
  async function returned(): Promise<void> {
    olderUntilMs = now() + OLDER_MS;
    sessions.forget();
    if (sessions.size > 0) await sessions.renew();
    gaps.tell();
  }

  async function tick(): Promise<void> {
    if (await sessions.renew()) gaps.tell();
    if (unsent === 0) return;
    const told = unsent;
    await redis.publish(CHANNEL, me + GAP);
    unsent -= told;
  }

  function failed(error: unknown): void {
    unsent += 1;
    onError(error);
  }

  function send(message: BusMessage): Promise<unknown> {
    const text = me + JSON.stringify(message);
    const sessionId = sessionOf(message);
    if (sessionId === undefined || !isDirected || now() < olderUntilMs) return redis.publish(CHANNEL, text);
    return redis.run(tagOfSession(sessionId), 'tell', followersOf(sessionId), [me, text]);
  }

  const own = `${CHANNEL}:${me}`;
  const subscription = redis.listen(CHANNEL, own, receive, (hearsMore) => {
    if (!hearsMore) onError(new Error(`${own} is refused: ${HOW_TO_ALLOW}`));
    isDirected = hearsMore;
    void returned();
  });
  redis.onLost(() => sessions.forget());
  // It fails on every tick while Redis is away.
  const stopTicking = every(TICK_MS, tick, () => undefined);

  return {
    get isConnected() {
      return subscription.isUp;
    },

    followed: {
      add: (sessionId) => sessions.add(sessionId),
      remove: (sessionId) => sessions.remove(sessionId),
      hears: (sessionId) => subscription.isUp && isDirected && sessions.isKnown(sessionId),
      get isDirected() {
        return isDirected;
      },
    },

    publish(message: BusMessage) {
      local.publish(message);
      sending.start(send(message));
    },

    noteLoss() {
      // The next tick tells the other nodes.
      unsent += 1;
      void returned();
    },

    subscribe: (listener) => local.subscribe(listener),

    onGap: (listener) => gaps.add(listener),

    async close() {
      await sending.settled();
      await stopTicking();
      await subscription.close();
    },
  };
}
