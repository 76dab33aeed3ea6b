import { every } from '../../kernel/every.ts';
import type { Redis } from '../../redis/connection.ts';
import { tagged, tagOfSession } from '../../redis/tags.ts';
import type { Bus, FollowedSessions } from './contract.ts';
import { type BusMessage, readBusMessage, sessionOf } from '../../protocol/bus.ts';
import { FollowedInRedis, followersOf } from './followed.ts';
import { createInProcessBus } from './in-process.ts';

/** Every node listens to it. */
const CHANNEL = 'bus';
/** Says that messages were lost, of its sender or with what Redis held. */
const GAP = 'gap';
const TICK_MS = 1000;
/**
 * For so long after an older build was heard, and after this node began to hear, there may be nodes that do not follow sessions: each says
 * every five seconds that it is here.
 */
const OLDER_MS = 15_000;
const HOW_TO_ALLOW =
  'let the user of Redis use &<REDIS_PREFIX>:bus* (docs/operations.md). Until then all nodes are told of all sessions.';

export interface RedisBusDeps {
  readonly redis: Pick<Redis, 'publish' | 'listen' | 'run' | 'onLost'>;
  /** The id of this node, with which its messages begin: what it published itself it has heard already. */
  readonly node: string;
  /** Told of listeners that throw, and of messages that did not get out: Unavailable. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a clock that nobody sets. */
  readonly now?: () => number;
}

export interface RedisBus extends Bus {
  readonly followed: FollowedSessions;
  /** Redis was found to have lost what it held: all nodes follow their sessions anew, and look for what they missed. */
  noteLoss(): void;
  /** Lets what was published go out, then stops listening. */
  close(): Promise<void>;
}

/**
 * The bus over Redis' channels: one of all nodes, and one of each node for what concerns the sessions that it follows. This node's own
 * listeners get a message before `publish` returns, also while Redis is away; what other nodes publish meanwhile is lost to it.
 */
export function createRedisBus({ redis, node: me, onError, now = () => performance.now() }: RedisBusDeps): RedisBus {
  const local = createInProcessBus(onError);
  const underWay = new Set<Promise<unknown>>();
  const gapListeners = new Set<{ readonly listen: () => void }>();
  const sessions = new FollowedInRedis({ redis, node: me, now });
  /** Messages that did not get out, and of which nobody was told yet. */
  let unsent = 0;
  /** Whether this node may use channels of single nodes. */
  let isDirected = false;
  /** Until then an older build may be here, which hears of sessions over the channel of all nodes only. */
  let olderUntilMs = now() + OLDER_MS;

  function announceGap(): void {
    for (const { listen } of gapListeners) {
      try {
        listen();
      } catch (error) {
        onError(error);
      }
    }
  }

  function receive(text: string): void {
    if (text.startsWith(me)) return;
    const said = text.slice(me.length);
    if (said === GAP) return void returned();
    const message = readBusMessage(said);
    if (message === undefined) return;
    if (message.type === 'node.here' && message.followsSessions !== true) olderUntilMs = now() + OLDER_MS;
    local.relay(message);
  }

  /** Redis may have come back without what it knew: first this node is told of its sessions again, then it looks for what it missed. */
  async function returned(): Promise<void> {
    olderUntilMs = now() + OLDER_MS;
    sessions.forget();
    if (sessions.size > 0) await sessions.renew();
    announceGap();
  }

  async function tick(): Promise<void> {
    if (await sessions.renew()) announceGap();
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
    const tag = tagOfSession(sessionId);
    return redis.run(tag, 'tell', tagged(tag, followersOf(sessionId)), [me, text]);
  }

  const own = `${CHANNEL}:${me}`;
  const subscription = redis.listen(CHANNEL, own, receive, (hearsMore) => {
    if (!hearsMore) onError(new Error(`${own} is refused: ${HOW_TO_ALLOW}`));
    isDirected = hearsMore;
    void returned();
  });
  redis.onLost(() => sessions.forget());
  // It fails as often as Redis is still away.
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
      const sending = send(message).catch(failed);
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
    },

    noteLoss() {
      // The others are told with the next tick.
      unsent += 1;
      void returned();
    },

    subscribe: (listener) => local.subscribe(listener),

    onGap(listen) {
      const listener = { listen };
      gapListeners.add(listener);
      return () => {
        gapListeners.delete(listener);
      };
    },

    async close() {
      await Promise.all(underWay);
      await stopTicking();
      await subscription.close();
    },
  };
}
