import { chunksOf } from '../../kernel/collections.ts';
import type { Redis } from '../../redis/connection.ts';
import { tagOfSession } from '../../redis/tags.ts';

/** Half as often as a session sends heartbeats. Builds before this one let followers expire after two minutes, those of other nodes too. */
const RENEW_MS = 90_000;
/** A follower that its node does not renew expires after this, in milliseconds. */
const KEEP_MS = 300_000;
/** Lower bound of the cap on renewals per call. The cap keeps sessions that came together from burdening Redis together. */
const MIN_RENEWED_AT_ONCE = 1000;
/** Lower bound of that cap, as a part of all sessions: all are renewed within half of KEEP_MS. */
const RENEWED_PART = 1 / 20;
const CHUNK = 1000;

interface FollowedSession {
  /** How often it was added. */
  times: number;
  /** Whether Redis is known to list this node as a follower: until then others may not address it alone. */
  isKnown: boolean;
  askedAtMs: number;
}

export interface FollowedInRedisDeps {
  readonly redis: Pick<Redis, 'run'>;
  readonly node: string;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** The sessions that this node follows, and for which of them Redis is known to list it. */
export class FollowedInRedis {
  readonly #deps: FollowedInRedisDeps;
  readonly #sessions = new Map<string, FollowedSession>();
  /** Grows with each `forget`: answers to earlier requests do not tell what Redis has now. */
  #epoch = 0;
  #hasFailed = false;

  constructor(deps: FollowedInRedisDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#sessions.size;
  }

  isKnown(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.isKnown === true;
  }

  add(sessionId: string): void {
    const present = this.#sessions.get(sessionId);
    if (present !== undefined) {
      present.times += 1;
      return;
    }
    const followed: FollowedSession = { times: 1, isKnown: false, askedAtMs: -Infinity };
    this.#sessions.set(sessionId, followed);
    void this.#register(sessionId, followed);
  }

  remove(sessionId: string): void {
    const present = this.#sessions.get(sessionId);
    if (present === undefined) return;
    present.times -= 1;
    if (present.times > 0) return;
    this.#sessions.delete(sessionId);
    // If this fails the entry expires; until then messages arrive for nothing.
    this.#ask('unfollow', sessionId, [this.#deps.node]).catch(() => undefined);
  }

  /** Redis may have lost all registrations, and messages with them: the next `renew` registers all sessions again. */
  forget(): void {
    this.#epoch += 1;
    this.#hasFailed = this.#sessions.size > 0;
    for (const followed of this.#sessions.values()) {
      followed.isKnown = false;
      followed.askedAtMs = -Infinity;
    }
  }

  /**
   * Registers what Redis is not known to have, and renews what is due; call it about once a second. Never rejects.
   * @returns whether messages may have been missed, and arrive again from now on
   */
  async renew(): Promise<boolean> {
    const now = this.#deps.now();
    const hadFailed = this.#hasFailed;
    const due: [string, FollowedSession][] = [];
    let left = Math.max(MIN_RENEWED_AT_ONCE, this.#sessions.size * RENEWED_PART);
    for (const entry of this.#sessions) {
      if (entry[1].askedAtMs === -Infinity) due.push(entry);
      else if (left > 0 && now - entry[1].askedAtMs >= RENEW_MS) {
        left -= 1;
        due.push(entry);
      }
    }
    this.#hasFailed = false;
    for (const some of chunksOf(due, CHUNK)) await Promise.all(some.map((entry) => this.#register(...entry)));
    return hadFailed && !this.#hasFailed;
  }

  async #register(sessionId: string, followed: FollowedSession): Promise<void> {
    const epoch = this.#epoch;
    followed.askedAtMs = this.#deps.now();
    try {
      await this.#ask('follow', sessionId, [this.#deps.node, String(KEEP_MS)]);
      if (epoch === this.#epoch) followed.isKnown = true;
    } catch {
      followed.isKnown = false;
      followed.askedAtMs = -Infinity;
      this.#hasFailed = true;
    }
  }

  #ask(name: string, sessionId: string, args: readonly string[]): Promise<unknown> {
    return this.#deps.redis.run(tagOfSession(sessionId), name, followersOf(sessionId), args);
  }
}

/** The name of the set of a session's followers. */
export function followersOf(sessionId: string): string {
  return `followers:${sessionId}`;
}
