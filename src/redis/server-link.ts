import { setTimeout as pause } from 'node:timers/promises';
import { ErrorReply, RedisClient } from '@redis/client';
import { deadline } from '../kernel/async.ts';
import { Unavailable } from '../kernel/errors.ts';
import { faultOf, saysError, unavailable } from './faults.ts';

const FIRST_BACK_OFF_MS = 25;
/** Short, because recovery must be noticed within three seconds; a server that is away costs a few attempts a second. */
const MAX_BACK_OFF_MS = 500;
/** A link that only listens has to ask to learn that its server hangs. */
const PING_MS = 500;
/** The longest silence of a server that is pinged or connected to, unless calls may take longer; after that it counts as hanging. */
const SILENCE_MS = 1000;

export interface LinkEvents {
  /** Called with each new connection before callers get it. */
  readonly onReady?: (client: Client) => unknown;
  /** Called when a connection that was up is lost, before another one comes up. */
  readonly onLost?: () => void;
}

type Waiter = (client: Client | undefined) => void;

/**
 * The way to one Redis server: it connects at the first use and again after every loss. While it is down, callers are refused at once; while it
 * connects, they wait within their deadlines. A server that lets a deadline pass counts as frozen, and one that takes no writes is no longer a
 * master: then the connection is given up, which node-redis never does by itself (docs/decisions/0010-our-own-links-to-redis.md).
 */
export class ServerLink {
  /** The URLs to try, one after the other; more than one only if any server will do (the bus). */
  readonly #urls: readonly string[];
  readonly #silenceMs: number;
  readonly #events: LinkEvents;
  readonly #stop = new AbortController();
  #client: Client | undefined;
  #running: Promise<void> | undefined;
  #lose: ((error: unknown) => void) | undefined;
  /** Why callers are refused; undefined while the link is up or coming up. */
  #down: Unavailable | undefined;
  #waiting: Waiter[] = [];

  /** @param deadlineMs the deadline of calls */
  constructor(urls: readonly string[], deadlineMs: number, events: LinkEvents = {}) {
    this.#urls = urls;
    this.#silenceMs = Math.max(SILENCE_MS, deadlineMs);
    this.#events = events;
  }

  /** Why the link is down; undefined while it is up or coming up. */
  get down(): Unavailable | undefined {
    return this.#down;
  }

  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** Begins to connect, without waiting. */
  open(): void {
    this.#running ??= this.#stop.signal.aborted ? Promise.resolve() : this.#keepOpen();
  }

  /**
   * Sends a command and resolves with its reply.
   * @param deadlineAt on `performance.now()`'s scale.
   * @param asking sends ASKING before it: the server is taking over the key's slot.
   * @throws Unavailable, or ErrorReply when the server refuses this particular command
   */
  send(args: readonly string[], deadlineAt: number, asking = false): Promise<unknown> {
    const client = this.#client;
    if (client !== undefined) return this.#sendOver(client, args, deadlineAt, asking);
    return this.#connected(deadlineAt).then((connected) => this.#sendOver(connected, args, deadlineAt, asking));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#lose?.(unavailable('closed'));
    this.#refuse(unavailable('closed'));
    await this.#running;
  }

  async #keepOpen(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const wasUp = await this.#serveOnce(this.#urls[attempt % this.#urls.length] ?? '');
      failures = wasUp ? 0 : failures + 1;
      // Half of the wait is random, so that the nodes of a service do not come back in step.
      const waitMs =
        Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures, 8)) * (0.5 + Math.random() / 2);
      if (!signal.aborted) await pause(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Serves with one connection until it is lost; @returns whether it was up at all. */
  async #serveOnce(url: string): Promise<boolean> {
    let lose = (_error: unknown): void => undefined;
    const lost = new Promise<never>((_, reject) => {
      lose = reject;
    });
    this.#lose = lose;
    const client = makeClient(url, lose);
    const callOff = deadline(this.#silenceMs, () => lose(unavailable('the connection did not come up in time')));
    try {
      await Promise.race([client.connect(), lost]);
      await Promise.race([this.#events.onReady?.(client), lost]);
    } catch (error) {
      this.#refuse(error);
      client.destroy();
      return false;
    } finally {
      callOff();
    }
    this.#client = client;
    this.#down = undefined;
    for (const go of this.#waiting.splice(0)) go(client);
    const pings = setInterval(() => this.#ping(client), PING_MS);
    await lost.catch(() => undefined);
    clearInterval(pings);
    if (this.#client === client) this.#client = undefined;
    client.destroy();
    if (!this.#stop.signal.aborted) this.#events.onLost?.();
    return true;
  }

  /** Any answer will do, an error too: the server answers. */
  #ping(client: Client): void {
    const asked = this.#within(performance.now() + this.#silenceMs, client, () => client.sendCommand(['PING']));
    asked.catch(() => undefined);
  }

  #connected(deadlineAt: number): Promise<Client> {
    this.open();
    if (this.#down !== undefined) return Promise.reject(this.#down);
    return new Promise((resolve, reject) => {
      const waiting: Waiter = (client) => {
        callOff();
        if (client === undefined) reject(this.#down);
        else resolve(client);
      };
      const callOff = deadline(deadlineAt - performance.now(), () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(unavailable('the connection did not come up in time'));
      });
      this.#waiting.push(waiting);
    });
  }

  /** Refuses callers: whatever kept the connection from coming up or going on, they cannot help it. */
  #refuse(error: unknown): void {
    const fault = faultOf(error);
    this.#down = fault instanceof Unavailable ? fault : new Unavailable('registry', fault);
    for (const go of this.#waiting.splice(0)) go(undefined);
  }

  /** Ends a connection that hangs; callers are refused until a new one is up. */
  #giveUp(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#refuse(error);
    this.#lose?.(error);
  }

  #sendOver(client: Client, args: readonly string[], deadlineAt: number, asking: boolean): Promise<unknown> {
    return this.#within(deadlineAt, client, () => {
      if (asking) void client.sendCommand(['ASKING']).catch(() => undefined);
      return client.sendCommand(args);
    });
  }

  #within(deadlineAt: number, client: Client, work: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const callOff = deadline(deadlineAt - performance.now(), () => {
        const fault = unavailable('the server did not answer in time');
        reject(fault);
        this.#giveUp(client, fault);
      });
      work().then(
        (reply) => {
          callOff();
          resolve(reply);
        },
        (error: unknown) => {
          callOff();
          // The master became a replica: a new connection finds the new master behind the same name.
          if (saysError(error, 'READONLY')) this.#giveUp(client, error);
          reject(error instanceof ErrorReply ? error : faultOf(error));
        },
      );
    });
  }
}

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
