import { afterAll, beforeAll } from 'vitest';
import type { VoiceEvent, VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { BusMessage } from '../../src/protocol/bus.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import type { Bus, BusListener } from '../../src/stores/bus/contract.ts';
import { listenerOf } from '../../src/stores/in-process.ts';
import { restoreWhatIsLost } from '../../src/stores/redis.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import type { VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { dueAt, slotHolders } from '../../src/sessions/deadlines.ts';
import { restoreLost } from '../../src/sessions/recovery/restore.ts';
import { closeDue } from '../../src/sessions/recovery/sweep.ts';
import { VoiceSessions } from '../../src/sessions/sessions.ts';
import { MemoryHistory } from '../features/sessions/recovery/support.ts';
import { ManualClock } from '../support/clock.ts';
import { startRedis, type RedisService } from '../support/services/redis.ts';

const HOUR_MS = 3_600_000;
/** Longer than any doubt or claim lasts. */
const LONG_AFTER_MS = 60_000;

export type Way = 'there' | 'cut' | 'deaf';

/** A Redis with a connection for each of two nodes, for the tests of a suite. */
export function useRedisOfTwo(): {
  readonly service: () => RedisService;
  readonly ways: () => readonly [Redis, Redis];
} {
  let service: RedisService;
  let ways: readonly [Redis, Redis];
  beforeAll(async () => {
    service = await startRedis();
    const open = (): Redis => openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
    ways = [open(), open()];
  });
  afterAll(async () => {
    for (const way of ways) await way.close();
    await service.stop();
  });
  return { service: () => service, ways: () => ways };
}

/** What nodes share: the clock, the history, and the transport of the bus. */
export class Installation {
  readonly clock = new ManualClock();
  readonly history = new MemoryHistory();
  readonly limits: VoiceLimits;
  readonly nodes: SocketNode[] = [];

  constructor(limits: VoiceLimits) {
    this.limits = limits;
  }

  tell(from: SocketNode, message: BusMessage): void {
    for (const node of this.nodes)
      if (node === from || (node.bus === 'there' && from.bus === 'there')) node.hear(message, node === from);
  }

  /** Lets time pass while each running node saves its buffer as often as it really would. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      if (this.nodes.every((node) => node.sessions.beats?.size === 0)) {
        this.clock.advance(left);
        return;
      }
      this.clock.advance(Math.min(500, left));
      for (const node of this.nodes) await node.sessions.beats?.flush();
    }
  }
}

/** A node with sockets on a real Redis; tests cut its connections to Redis and to the other nodes. */
export class SocketNode {
  readonly sessions: VoiceSessions;
  readonly registry;
  readonly slots;
  /** Sessions with a socket here. */
  readonly attached = new Set<string>();
  /** Ends that its sockets were told of. */
  readonly told: string[] = [];
  /** Its connection to the other nodes. A deaf node does not know yet that it is cut off. */
  bus: Way = 'there';
  isRedisAway = false;
  readonly #all: Installation;
  readonly #redis: Redis;
  readonly #listeners: BusListener[] = [];
  /** The script operations that it asked for. */
  readonly asked: string[] = [];

  constructor(all: Installation, redis: Redis) {
    this.#all = all;
    this.#redis = redis;
    const { clock, limits } = all;
    const history = all.history as unknown as VoiceHistory;
    const reached: Pick<Redis, 'run'> = {
      run: (tag, name, key, args) => {
        if (this.isRedisAway) return Promise.reject(new Unavailable('registry'));
        this.asked.push(name);
        return redis.run(tag, name, key, args);
      },
    };
    this.registry = createRedisVoiceRegistry({ redis: reached, dueAt: dueAt(limits), keepMs: HOUR_MS });
    const rebuild = async () => slotHolders(await all.history.active(''), limits);
    this.slots = createRedisSlots({ redis: reached, rebuild, keepMs: HOUR_MS });
    const bus: Bus = {
      publish: (message) => all.tell(this, message),
      subscribe: (listener) => {
        this.#listeners.push(listenerOf(listener));
        return () => undefined;
      },
      onGap: () => () => undefined,
      isConnected: true,
      followed: {
        add: (id) => void this.attached.add(id),
        remove: (id) => void this.attached.delete(id),
        isDirected: true,
        hears: (id) => this.bus !== 'cut' && this.attached.has(id),
      },
    };
    this.sessions = new VoiceSessions({
      live: {
        registry: this.registry,
        slots: this.slots,
        bus,
        clock,
        probe: async () => undefined,
        onLost: () => undefined,
        restoreWhatIsLost: (restore) => restoreWhatIsLost(reached, restore),
      },
      history,
      limits,
      events: { sessionOpened: () => undefined, sessionMoved: () => undefined },
    });
    all.nodes.push(this);
  }

  hear(message: BusMessage, isOwn: boolean): void {
    for (const listen of this.#listeners) listen(message, isOwn);
    if (message.type !== 'session.moved' || message.endReason === null || !this.attached.has(message.sessionId)) return;
    this.told.push(message.endReason);
  }

  /** Kills the process, which loses what it had not saved. @returns the node that is started in its place */
  crash(): SocketNode {
    this.#all.nodes.splice(this.#all.nodes.indexOf(this), 1);
    return new SocketNode(this.#all, this.#redis);
  }

  async sweep(): Promise<void> {
    if (this.isRedisAway) return;
    await closeDue(this.#all.clock.now(), 100, 0, this.sessions.recovery);
  }

  send(event: VoiceEvent, id: string) {
    const { sessions } = this;
    const { at } = event;
    if (event.type === 'HEARTBEAT') return sessions.heartbeat(id, at, event.idleSec, () => true);
    if (event.type === 'ACTIVITY') return sessions.noteActivity(id, at);
    if (event.type === 'END') return sessions.end(id, event.reason, at);
    throw new Error(event.type);
  }

  /** Restores both connections and writes what waited. */
  async heal(): Promise<void> {
    const { recovery, beats } = this.sessions;
    this.bus = 'there';
    this.isRedisAway = false;
    recovery.outage.send({ type: 'CLOCK', at: performance.now() + LONG_AFTER_MS });
    await beats?.flush();
    await recovery.pendingWrites.flush();
    await recovery.writer.flush();
  }

  async restore(): Promise<void> {
    await restoreLost(this.sessions.recovery);
  }

  async open(record: VoiceRecord): Promise<void> {
    await this.#all.history.insert({ record });
    await this.registry.insert(record);
    await this.sessions.recovery.pendingWrites.write(record);
  }
}
