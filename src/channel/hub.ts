import type { Bus } from '../stores/bus/contract.ts';
import { Connection, type Attachments, type ChannelParts } from './connection.ts';
import { closeCode, type Socket, type SocketListener } from './socket.ts';

/** The sockets of this node. Pushes reach a socket on whichever node it hangs, because every node hears the bus. */
export class Hub implements Attachments {
  readonly #parts: ChannelParts;
  readonly #open = new Set<Connection>();
  readonly #bySession = new Map<string, Set<Connection>>();
  readonly #stopListening: () => void;

  constructor(parts: ChannelParts & { readonly bus: Bus }) {
    this.#parts = parts;
    this.#stopListening = parts.bus.subscribe((message) => {
      if (message.type === 'session.moved')
        for (const connection of this.#of(message.sessionId)) connection.push(message.state, message.endReason);
      if (message.type === 'quota.neared') this.#warnOfQuota(message.subject);
    });
  }

  /** Sockets that are attached to a session. */
  get attached(): number {
    return this.#open.size;
  }

  /** Takes a new socket. */
  accept(socket: Socket): SocketListener {
    return new Connection(socket, this.#parts, this);
  }

  add(connection: Connection): void {
    const id = connection.record?.id;
    if (id === undefined) return;
    this.#open.add(connection);
    const peers = this.#bySession.get(id);
    if (peers === undefined) this.#bySession.set(id, new Set([connection]));
    else peers.add(connection);
  }

  remove(connection: Connection): void {
    this.#open.delete(connection);
    const id = connection.record?.id;
    const peers = id === undefined ? undefined : this.#bySession.get(id);
    if (peers?.delete(connection) === true && peers.size === 0 && id !== undefined) this.#bySession.delete(id);
  }

  /** Warns the clients whose sessions are about to end; call it about every second. */
  tick(): void {
    const at = this.#parts.clock.now();
    for (const connection of this.#open) connection.warn(at);
  }

  /** The node goes away: every client is told to connect elsewhere (1012). */
  close(): void {
    this.#stopListening();
    for (const connection of this.#open) connection.close(closeCode.goingAway, 'the node is going away');
  }

  #of(sessionId: string): readonly Connection[] {
    return [...(this.#bySession.get(sessionId) ?? [])];
  }

  #warnOfQuota(subject: string): void {
    for (const connection of this.#open)
      if (connection.record?.subject === subject) connection.send({ type: 'warning', reason: 'quota' });
  }
}
