import type { Eventually } from '../kernel/async.ts';
import { digestOf, randomSecret } from '../kernel/ids.ts';
import type { CallTicket, CallTickets } from '../stores/call-tickets/contract.ts';

const PREFIX = 'ek_sb_';
const shape = /^ek_sb_[A-Za-z0-9_-]{43}$/;

interface TicketsDeps {
  readonly store: CallTickets;
  /** CLIENT_SECRET_TTL_SEC. */
  readonly ttlSec: number;
}

/** A secret in the form of a client secret, which opens one call of a brokered session. */
export interface Ticket {
  readonly value: string;
  /** Seconds since the Unix epoch. */
  readonly expiresAtSec: number;
}

/**
 * The client secrets of brokered sessions, called tickets (docs/contract.md, section 5.11): `ek_sb_` and 256 random bits, which only the caller has;
 * the store has their hashes. They begin like the provider's own, because its SDK accepts no others. The provider makes those of direct sessions.
 */
export class Tickets {
  readonly #store: CallTickets;
  readonly #ttlSec: number;

  constructor({ store, ttlSec }: TicketsDeps) {
    this.#store = store;
    this.#ttlSec = ttlSec;
  }

  /** Makes a ticket of a session; it is valid only once `kept` is saved. */
  make(sessionId: string, atMs: number): { readonly ticket: Ticket; readonly kept: CallTicket } {
    const value = `${PREFIX}${randomSecret()}`;
    const expiresAtSec = Math.floor(atMs / 1000) + this.#ttlSec;
    return {
      ticket: { value, expiresAtSec },
      kept: { hash: digestOf(value), sessionId, untilMs: expiresAtSec * 1000 },
    };
  }

  /** Makes and saves a ticket of an open session. @throws Unavailable when the database is away */
  async issue(sessionId: string, atMs: number): Promise<Ticket> {
    const { ticket, kept } = this.make(sessionId, atMs);
    await this.#store.insert(kept);
    return ticket;
  }

  /** The session that a ticket belongs to; undefined if it is unknown, spent or expired. @throws Unavailable when the database is away */
  find(value: string, atMs: number): Eventually<string | undefined> {
    return shape.test(value) ? this.#store.find(digestOf(value), atMs) : undefined;
  }

  /** Spends a ticket; of two concurrent calls one gets true. @throws Unavailable when the database is away */
  async spend(value: string, atMs: number): Promise<boolean> {
    return (await this.#store.spend(digestOf(value), atMs)) !== undefined;
  }
}
