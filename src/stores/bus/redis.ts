import { randomId } from '../../kernel/ids.ts';
import type { Redis } from '../../redis/connection.ts';
import type { Bus, BusMessage } from './contract.ts';
import { createInProcessBus } from './in-process.ts';
import { readMessage } from './message.ts';

const CHANNEL = 'bus';

export interface RedisBusParts {
  readonly redis: Pick<Redis, 'publish' | 'listen'>;
  /** Told of listeners that throw, and of messages that did not get out: Unavailable. */
  readonly onError: (error: unknown) => void;
}

export interface RedisBus extends Bus {
  /** Lets what was published go out, then stops listening. */
  close(): Promise<void>;
}

/**
 * The bus over Redis' channels. This node's own listeners hear a message before `publish` returns, also while Redis is away;
 * what other nodes say meanwhile is lost to it.
 */
export function createRedisBus({ redis, onError }: RedisBusParts): RedisBus {
  const local = createInProcessBus(onError);
  const me = randomId();
  const underWay = new Set<Promise<void>>();
  const stop = redis.listen(CHANNEL, (text) => {
    const message = text.startsWith(me) ? undefined : readMessage(text.slice(me.length));
    if (message !== undefined) local.publish(message);
  });

  return {
    publish(message: BusMessage) {
      local.publish(message);
      const sending = redis.publish(CHANNEL, me + JSON.stringify(message)).catch(onError);
      underWay.add(sending);
      void sending.finally(() => underWay.delete(sending));
    },
    subscribe: (listener) => local.subscribe(listener),
    async close() {
      await Promise.all(underWay);
      await stop();
    },
  };
}
