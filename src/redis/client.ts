import { RedisClient } from '@redis/client';

/** Ends an attempt that its link no longer waits for. */
const CONNECT_MS = 5000;
/** Commands that wait for their replies; a command carries a whole batch. */
const MAX_COMMANDS = 4096;

/** The library makes a class of its commands anew whenever options are not those that it was given last: one is enough for all servers. */
let create: ReturnType<typeof RedisClient.factory> | undefined;

export type Client = ReturnType<typeof makeClient>;

/**
 * One connection that never reconnects by itself: whoever holds it makes another (see `ServerLink`), so that there is one place that
 * knows how long to wait. `onLost` is told of anything after which the connection is of no use, perhaps more than once.
 */
export function makeClient(url: string, onLost: (error: unknown) => void) {
  create ??= RedisClient.factory();
  const client = create({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    maintNotifications: 'disabled',
    // Deadlines are the link's: one timer for a batch is cheaper than an AbortSignal for each command, and the library's fire in a process
    // that stood still before it has read what was answered meanwhile.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
  });
  // Without a listener an error would end the process.
  client.on('error', onLost);
  client.on('end', () => onLost(new Error('the connection was closed')));
  return client;
}
