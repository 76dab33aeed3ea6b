import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { closeCode } from '../protocol/close-codes.ts';
import type { Language } from '../protocol/error-translations/languages.ts';
import { sessionName } from '../protocol/session.ts';
import { nearsCeiling } from '../quota/ceilings.ts';
import type { BusMessage } from '../protocol/bus.ts';
import { MAX_SOCKETS, SocketLimits, SocketLeases } from './socket-limits.ts';
import { spokeFrame, toldState } from './frames.ts';
import type { ChannelDeps, ConnectionContext } from './deps.ts';
import { CallSockets } from './call-sockets.ts';
import { Connection } from './connection.ts';
import { Resync } from './resync.ts';
import { presentOr } from './warnings.ts';
import { andThen } from '../kernel/async.ts';
import { ignoring, type Socket, type SocketListener } from '../kernel/socket.ts';

const ATTACH_MS = 5000;
/** Sessions that are looked up together after a gap. */
const PAGE = 1000;

/** The sockets of this node. A push reaches a socket on any node, because the socket's node follows its session. */
export class Hub implements ConnectionContext<Connection> {
  readonly deps: ChannelDeps;
  readonly addresses: SocketLimits;
  readonly sessions: SocketLimits;
  readonly socketLeases: SocketLeases;
  readonly calls: CallSockets;
  /** Connections that have not attached yet, with the time they arrived, oldest first. */
  readonly #expected = new Map<Connection, number>();
  /** Nearly every session has one socket, for which a set would be wasteful. */
  readonly #bySession = new Map<string, Connection | Set<Connection>>();
  readonly #stopListening: () => void;
  readonly #resync: Resync;
  /** Sessions that the bus reported since the current look began. */
  #moved: Set<string> | undefined;

  constructor(deps: ChannelDeps) {
    this.deps = deps;
    const { lease, live, onError } = deps;
    const { maxSocketsPerIp, burst, perIpPerMinute: perMinute } = deps.config.edge;
    const at = deps.clock.now();
    // An address may send as much as this many sessions may, if each were open in as many pages as allowed.
    const sessions = Math.ceil(maxSocketsPerIp / MAX_SOCKETS);
    this.sessions = new SocketLimits({ sockets: MAX_SOCKETS, burst, perMinute }, at);
    this.addresses = new SocketLimits(
      { sockets: maxSocketsPerIp, burst: burst * sessions, perMinute: perMinute * sessions },
      at,
    );
    this.socketLeases = new SocketLeases(lease, this.sessions, live.sockets, onError);
    this.calls = new CallSockets({ ...live, ...deps, node: lease.node });
    this.#resync = new Resync(live.bus, at, () => this.#look(), onError);
    this.#stopListening = live.bus.subscribe({
      ...this.calls.listeners,
      'session.moved': ({ sessionId, state, endReason }) => {
        this.#moved?.add(sessionId);
        for (const connection of this.#of(sessionId)) connection.push(state, endReason);
      },
      'session.spoke': ({ sessionId }) => this.#tellSpoke(sessionId),
      'session.resumed': ({ sessionId, atMs }) => {
        for (const connection of this.#of(sessionId))
          if (connection.attachedAtMs <= atMs) connection.close(closeCode.resumedElsewhere, 'resumed elsewhere');
      },
      'call.told': (message) => this.#tellOfCall(message),
      'quota.neared': (message) => this.#warnOfQuota(message),
      'quota.ending': (message) => this.#warnOfEnd(message),
    });
  }

  /** How many sessions have a socket here. */
  get attached(): number {
    return this.#bySession.size;
  }

  /**
   * Takes a new socket.
   * @param address as the edge windows name it: an IPv4 address or the /64 of an IPv6 one
   * @param language of the texts for end users in its frames
   */
  accept(socket: Socket, address: string, language: Language): SocketListener {
    const use = this.addresses.enter(address);
    if (use !== undefined) return new Connection(socket, use, language, this);
    socket.close(closeCode.tooMany, 'too many sockets of this address');
    return ignoring;
  }

  expect(connection: Connection): void {
    this.#expected.set(connection, this.deps.clock.now());
  }

  add(sessionId: string, connection: Connection): void {
    this.#expected.delete(connection);
    const present = this.#bySession.get(sessionId);
    if (present === undefined) {
      this.#bySession.set(sessionId, connection);
      if (sessionName.test(sessionId)) this.deps.live.bus.followed?.add(sessionId);
    } else if (present instanceof Set) present.add(connection);
    else this.#bySession.set(sessionId, new Set([present, connection]));
  }

  remove(sessionId: string | undefined, connection: Connection): void {
    this.#expected.delete(connection);
    if (sessionId === undefined) return;
    this.calls.remove(sessionId, connection);
    const present = this.#bySession.get(sessionId);
    if (present instanceof Set) present.delete(connection);
    if (present !== connection && !(present instanceof Set && present.size === 0)) return;
    this.#bySession.delete(sessionId);
    this.deps.live.bus.followed?.remove(sessionId);
  }

  /**
   * Closes sockets that have not attached in time, warns clients whose sessions are about to end, and renews the leases of sockets in their sessions;
   * call it about every second.
   */
  tick(): void {
    const at = this.deps.clock.now();
    for (const [connection, since] of this.#expected) {
      if (at - since >= ATTACH_MS) connection.close(closeCode.noAttach, 'no attach in time');
    }
    for (const connection of this.#all()) connection.warn(at);
    this.socketLeases.renew(at);
    this.sessions.tidy(at);
    this.addresses.tidy(at);
    this.#resync.tick(at);
    this.calls.tick(at);
  }

  /** The node goes away: tells every client to connect elsewhere (1012). */
  close(): void {
    this.#stopListening();
    this.#resync.close();
    for (const connection of [...this.#expected.keys(), ...this.#all()])
      connection.close(closeCode.goingAway, 'the node is going away');
  }

  *#all(): Generator<Connection> {
    for (const present of this.#bySession.values()) {
      if (present instanceof Set) yield* present;
      else yield present;
    }
  }

  /** A copy, because connections leave when they are told of an end. */
  #of(sessionId: string): readonly Connection[] {
    const present = this.#bySession.get(sessionId);
    if (present === undefined) return [];
    return present instanceof Set ? [...present] : [present];
  }

  /** Tells all sockets here what became of their sessions; false when a store was away. */
  async #look(): Promise<boolean> {
    this.calls.resync();
    const moved = (this.#moved = new Set<string>());
    const ids = [...this.#bySession.keys()];
    let isWhole = true;
    try {
      for (let from = 0; from < ids.length; from += PAGE) {
        const found = await this.deps.sessions.lookUp(ids.slice(from, from + PAGE));
        for (const record of found.records) this.#tell(record, moved);
        isWhole &&= found.isWhole;
      }
    } finally {
      this.#moved = undefined;
    }
    return isWhole;
  }

  /** What the bus said meanwhile may be newer than what was found, but an end is final. */
  #tell(record: VoiceRecord, moved: ReadonlySet<string>): void {
    const { id, endReason } = record;
    if (endReason === null && moved.has(id)) return;
    const state = endReason === null ? toldState(record, this.deps.clock.now(), this.deps) : 'ended';
    for (const connection of this.#of(id)) connection.push(state, endReason);
  }

  /** A new visitor spoke: tells the sockets of the session that it no longer waits for first words. */
  #tellSpoke(sessionId: string): void {
    const { sessions, clock } = this.deps;
    for (const connection of this.#of(sessionId)) {
      const { record } = connection;
      if (record !== undefined && record.wordsDueAtMs > 0)
        void andThen(presentOr(record, sessions), (present) =>
          connection.send(spokeFrame(present, clock.now(), this.deps)),
        );
    }
  }

  #tellOfCall({ sessionId, callId: call, event }: Extract<BusMessage, { type: 'call.told' }>): void {
    for (const connection of this.#of(sessionId))
      if (connection.record !== undefined) connection.send({ type: 'call', event, call });
  }

  #warnOfEnd({ sessionId, endsAtMs }: Extract<BusMessage, { type: 'quota.ending' }>): void {
    const secondsLeft = Math.max(0, Math.ceil((endsAtMs - this.deps.clock.now()) / 1000));
    for (const connection of this.#of(sessionId)) connection.sendWarning('quota', secondsLeft);
  }

  /** Warns each session's clients by the ceiling of its own key. */
  #warnOfQuota({ subject, after, entry }: Extract<BusMessage, { type: 'quota.neared' }>): void {
    for (const connection of this.#all()) {
      const { record } = connection;
      if (record?.subject !== subject) continue;
      if (nearsCeiling(after, entry, this.deps.usage.limitsOf(record.caller, record.tenantId, record.keyId)))
        connection.sendWarning('quota');
    }
  }
}
