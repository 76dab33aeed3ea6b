import { RedisClient } from '@redis/client';

/** Ends a connection attempt that its link no longer waits for. */
const CONNECT_MS = 5000;
/** How many commands may wait for their replies; one command carries a whole batch. */
const MAX_COMMANDS = 4096;

/** The library builds the class of its commands again whenever the options are not those of the last call: one class is enough for all servers. */
let create: ReturnType<typeof RedisClient.factory> | undefined;

export type Client = ReturnType<typeof makeClient>;

/**
 * One connection that never reconnects by itself: its holder makes a new one (see `ServerLink`), so that only one place decides how long to wait.
 * `onLost` is called for anything that makes the connection useless, perhaps more than once.
 */
export function makeClient(url: string, onLost: (error: unknown) => void) {
  create ??= RedisClient.factory();
  const client = create({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    maintNotifications: 'disabled',
    // Deadlines are set by the link: one timer for a batch is cheaper than an AbortSignal for each command, and in a process that stood still the
    // library's timers fire before it has read what was answered meanwhile.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
  });
  // Without a listener an error would end the process.
  client.on('error', onLost);
  client.on('end', () => onLost(new Error('the connection was closed')));
  return client;
}
