import { nearsCeiling } from '../quota/ceilings.ts';
import type { Bus, BusMessage } from '../stores/bus/contract.ts';
import { Connection, type Channel } from './connection.ts';
import { FrameBudget } from './frame-budget.ts';
import type { ChannelParts } from './parts.ts';
import { closeCode, type Socket, type SocketListener } from './socket.ts';

const ATTACH_MS = 5000;

export interface HubParts extends ChannelParts {
  readonly bus: Bus;
  /** Frames that a socket may send at once, and how many a minute it earns back. */
  readonly frames: { readonly burst: number; readonly perMinute: number };
}

/** The sockets of this node. Pushes reach a socket on whichever node it hangs, because every node hears the bus. */
export class Hub implements Channel {
  readonly parts: ChannelParts;
  readonly budget: FrameBudget;
  readonly budgetEpochMs: number;
  /** When those that have not attached came, in that order. */
  readonly #expected = new Map<Connection, number>();
  /** Nearly every session has one socket, for which a set would be a waste. */
  readonly #bySession = new Map<string, Connection | Set<Connection>>();
  readonly #stopListening: () => void;

  constructor(parts: HubParts) {
    this.parts = parts;
    this.budget = new FrameBudget(parts.frames.burst, parts.frames.perMinute);
    this.budgetEpochMs = parts.clock.now();
    this.#stopListening = parts.bus.subscribe((message) => {
      if (message.type === 'session.moved')
        for (const connection of this.#of(message.sessionId)) connection.push(message.state, message.endReason);
      if (message.type === 'quota.neared') this.#warnOfQuota(message);
    });
  }

  /** How many sessions have a socket here. */
  get attached(): number {
    return this.#bySession.size;
  }

  /** Takes a new socket. */
  accept(socket: Socket): SocketListener {
    return new Connection(socket, this);
  }

  expect(connection: Connection): void {
    this.#expected.set(connection, this.parts.clock.now());
  }

  add(sessionId: string, connection: Connection): void {
    this.#expected.delete(connection);
    const present = this.#bySession.get(sessionId);
    if (present === undefined) this.#bySession.set(sessionId, connection);
    else if (present instanceof Set) present.add(connection);
    else this.#bySession.set(sessionId, new Set([present, connection]));
  }

  remove(sessionId: string | undefined, connection: Connection): void {
    this.#expected.delete(connection);
    if (sessionId === undefined) return;
    const present = this.#bySession.get(sessionId);
    if (present instanceof Set) present.delete(connection);
    if (present === connection || (present instanceof Set && present.size === 0)) this.#bySession.delete(sessionId);
  }

  /** Closes those that have not attached in time and warns the clients whose sessions are about to end; call it about every second. */
  tick(): void {
    const at = this.parts.clock.now();
    for (const [connection, since] of this.#expected) {
      if (at - since >= ATTACH_MS) connection.close(closeCode.noAttach, 'no attach in time');
    }
    for (const connection of this.#all()) connection.warn(at);
  }

  /** The node goes away: every client is told to connect elsewhere (1012). */
  close(): void {
    this.#stopListening();
    for (const connection of [...this.#expected.keys(), ...this.#all()])
      connection.close(closeCode.goingAway, 'the node is going away');
  }

  *#all(): Generator<Connection> {
    for (const present of this.#bySession.values()) {
      if (present instanceof Set) yield* present;
      else yield present;
    }
  }

  /** A copy: those that are told of an end leave. */
  #of(sessionId: string): readonly Connection[] {
    const present = this.#bySession.get(sessionId);
    if (present === undefined) return [];
    return present instanceof Set ? [...present] : [present];
  }

  /** Each session's clients are warned at the shares of its own key's ceiling. */
  #warnOfQuota({ subject, after, entry }: Extract<BusMessage, { type: 'quota.neared' }>): void {
    for (const connection of this.#all()) {
      const { record } = connection;
      if (record?.subject !== subject) continue;
      if (nearsCeiling(after, entry, this.parts.limitsOf(record.caller, record.tenantId, record.keyId)))
        connection.send({ type: 'warning', reason: 'quota' });
    }
  }
}
