import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Eventually } from '../kernel/async.ts';
import { digestOf, randomSecret } from '../kernel/ids.ts';
import { SECOND_MS } from '../kernel/time.ts';
import type { CallTicket, ResumeTokens as ResumeTokenStore } from '../stores/call-tickets/contract.ts';

const PREFIX = 'rs_';
const shape = /^rs_[A-Za-z0-9_-]{43}$/;
/** How long after a session's last heartbeat another page may continue it. */
const RESUME_SEC = 120;
/** A page whose heartbeat is later than this has left. */
const LATE_SEC = 5;

interface ResumeTokensDeps {
  readonly store: ResumeTokenStore;
  /** HEARTBEAT_INTERVAL_SEC. */
  readonly heartbeatIntervalSec: number;
}

/** How long a session waits for its next page. */
export interface NextPage {
  readonly untilMs: number;
  /** Whether the page before is known to have left. */
  readonly hasLeft: boolean;
}

/**
 * Resume tokens of brokered sessions (docs/contract.md, section 5.13): `rs_` and 256 random bits, which only the page has; the store has their
 * hashes. A session has one at a time.
 */
export class ResumeTokens {
  readonly #store: ResumeTokenStore;
  readonly #heartbeatSec: number;

  constructor({ store, heartbeatIntervalSec }: ResumeTokensDeps) {
    this.#store = store;
    this.#heartbeatSec = heartbeatIntervalSec;
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

  /** Until when a session's token works. Where heartbeats are rare, a page that is still there may not have sent one for longer. */
  worksUntilMs({ lastSeenAtMs }: Pick<VoiceRecord, 'lastSeenAtMs'>): number {
    return lastSeenAtMs + Math.max(RESUME_SEC, 2 * this.#heartbeatSec) * SECOND_MS;
  }

  /**
   * How long a session waits for a page that uses its token; undefined if nobody has one, or the page that has it is still there.
   * @param leftAtMs when the page left its call, if it has left at all: only a missing heartbeat tells
   * @throws Unavailable when the database is away
   */
  async nextPageOf(session: VoiceRecord, leftAtMs: number, atMs: number): Promise<NextPage | undefined> {
    const { id, lastSeenAtMs } = session;
    if (lastSeenAtMs > leftAtMs || !(await this.#store.has(id, atMs))) return undefined;
    const silentAtMs = lastSeenAtMs + (this.#heartbeatSec + LATE_SEC) * SECOND_MS;
    const hasLeft = atMs >= silentAtMs;
    const untilMs = this.worksUntilMs(session);
    return { untilMs: hasLeft ? untilMs : Math.min(silentAtMs, untilMs), hasLeft };
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
