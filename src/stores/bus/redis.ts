import { every } from '../../kernel/every.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Bus } from './contract.ts';
import { type BusMessage, readBusMessage } from '../../protocol/bus.ts';
import { createInProcessBus } from './in-process.ts';

const CHANNEL = 'bus';
/** Says that messages of its sender were lost. */
const GAP = 'gap';
const TELL_GAP_MS = 1000;

export interface RedisBusDeps {
  readonly redis: Pick<Redis, 'publish' | 'listen'>;
  /** The id of this node, with which its messages begin: what it published itself it has heard already. */
  readonly node: string;
  /** Told of listeners that throw, and of messages that did not get out: Unavailable. */
  readonly onError: (error: unknown) => void;
}

export interface RedisBus extends Bus {
  /** Lets what was published go out, then stops listening. */
  close(): Promise<void>;
}

/**
 * The bus over Redis' channels. This node's own listeners get a message before `publish` returns, also while Redis is away;
 * what other nodes publish meanwhile is lost to it.
 */
export function createRedisBus({ redis, node: me, onError }: RedisBusDeps): RedisBus {
  const local = createInProcessBus(onError);
  const underWay = new Set<Promise<void>>();
  const gapListeners = new Set<{ readonly listen: () => void }>();
  /** Messages that did not get out, and of which nobody was told yet. */
  let unsent = 0;

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
    if (said === GAP) return announceGap();
    const message = readBusMessage(said);
    if (message !== undefined) local.relay(message);
  }

  async function tellGap(): Promise<void> {
    if (unsent === 0) return;
    const told = unsent;
    await redis.publish(CHANNEL, me + GAP);
    unsent -= told;
  }

  function failed(error: unknown): void {
    unsent += 1;
    onError(error);
  }

  const subscription = redis.listen(CHANNEL, receive, announceGap);
  // It fails as often as Redis is still away.
  const stopTelling = every(TELL_GAP_MS, tellGap, () => undefined);

  return {
    get isConnected() {
      return subscription.isUp;
    },

    publish(message: BusMessage) {
      local.publish(message);
      const sending = redis.publish(CHANNEL, me + JSON.stringify(message)).catch(failed);
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
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
      await stopTelling();
      await subscription.close();
    },
  };
}
