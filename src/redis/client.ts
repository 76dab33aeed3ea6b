import { createClient } from '@redis/client';

/** Longest silence of a server that is asked every `PING_MS`: more is a server that hangs. */
const SILENCE_MS = 1000;
const PING_MS = 500;
/** Commands that wait for their replies; a command carries a whole batch. */
const MAX_COMMANDS = 4096;

export type Client = ReturnType<typeof makeClient>;

/**
 * One connection that never reconnects by itself: whoever holds it makes another (see `ServerLink`), so that there is one place that
 * knows how long to wait. `onLost` is told of anything after which the connection is of no use, perhaps more than once.
 */
export function makeClient(url: string, onLost: (error: unknown) => void) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    pingInterval: PING_MS,
    maintNotifications: 'disabled',
    // Deadlines are the link's: one timer for a batch is cheaper than an AbortSignal for each command.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: SILENCE_MS, socketTimeout: SILENCE_MS, reconnectStrategy: false },
  });
  // Without a listener an error would end the process.
  client.on('error', onLost);
  client.on('end', () => onLost(new Error('the connection was closed')));
  return client;
}
