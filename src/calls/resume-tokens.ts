import { digestOf } from '../kernel/digest.ts';
import type { Eventually } from '../kernel/eventually.ts';
import { randomSecret } from '../kernel/ids.ts';
import type { CallTicket } from '../stores/call-tickets/contract.ts';
import type { ResumeTokens as ResumeTokenStore } from '../stores/resume-tokens/contract.ts';

const PREFIX = 'rs_';
const shape = /^rs_[A-Za-z0-9_-]{43}$/;

/**
 * Resume tokens of brokered sessions (docs/contract.md, section 5.13): `rs_` and 256 random bits, which only the page has; the store has their
 * hashes. A session has one at a time.
 */
export class ResumeTokens {
  readonly #store: ResumeTokenStore;

  constructor(store: ResumeTokenStore) {
    this.#store = store;
  }

  /**
   * Issues a new token of a session, replacing the one before; undefined for a session whose calls Switchboard does not open.
   * @param untilMs when the session is over at the latest
   * @throws Unavailable when the database is away
   */
  async issue(sessionId: string, untilMs: number): Promise<string | undefined> {
    const value = `${PREFIX}${randomSecret()}`;
    return (await this.#store.replace({ hash: digestOf(value), sessionId, untilMs })) ? value : undefined;
  }

  /** The session that a token belongs to; undefined if it is unknown, spent, replaced or expired. @throws Unavailable when the database is away */
  find(value: string, atMs: number): Eventually<string | undefined> {
    return shape.test(value) ? this.#store.find(digestOf(value), atMs) : undefined;
  }

  /** Spends a token for a ticket of its session; of two concurrent calls one gets true. @throws Unavailable when the database is away */
  spend(value: string, ticket: CallTicket, atMs: number): Promise<boolean> {
    return this.#store.spend(digestOf(value), ticket, atMs);
  }

  /** Undoes `spend`. @throws Unavailable when the database is away */
  giveBack(value: string, { sessionId, hash }: CallTicket, untilMs: number): Promise<void> {
    return this.#store.giveBack({ hash: digestOf(value), sessionId, untilMs }, hash);
  }
}
