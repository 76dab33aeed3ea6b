import { randomUUID } from 'node:crypto';
import type { Caller, Answer } from '../caller.ts';
import { Line } from '../line.ts';
import type { Random } from '../random.ts';
import { site, siteKey } from '../settings.ts';
import { isUnknown, type Entry } from '../../../support/journal.ts';

const TRIES = 12;
const PAUSE_MS = 300;
/** The share of sessions that are held over WebSockets. */
const SOCKETS = 0.3;
/** Makes each report's tokens unique, so that it can be recognized in the ledger. */
let reports = 0;

/** A voice session as a client holds it. */
export class Session {
  readonly id: string;
  readonly email: string;
  readonly #caller: Caller;
  readonly #random: Random;
  /** Undefined for a client that sends its heartbeats over HTTP. */
  readonly line: Line | undefined;

  /** The ticket that opens the session's call; undefined when the create was answered without one. */
  readonly ticket: string | undefined;

  private constructor(
    id: string,
    email: string,
    caller: Caller,
    random: Random,
    ticket: string | undefined,
    isOnSocket: boolean,
  ) {
    this.id = id;
    this.email = email;
    this.#caller = caller;
    this.#random = random;
    this.ticket = ticket;
    if (isOnSocket) this.line = new Line(caller, random, { session: id, email });
  }

  /** Opens a session. A create whose answer was lost may be repeated under its idempotency key. @returns undefined when refused */
  static async open(
    caller: Caller,
    random: Random,
    email: string,
    widgetKey = siteKey,
    keyId?: string,
    agentId = 'support',
    isOnSocket = random.chance(SOCKETS),
  ): Promise<Session | undefined> {
    const isRepeated = random.chance(0.5);
    const key = randomUUID();
    for (let tries = 0; tries < 4; tries += 1) {
      const answer = await caller.send(
        {
          call: 'create',
          body: { widgetKey, agentId, email },
          headers: { origin: site, ...(isRepeated ? { 'idempotency-key': key } : {}) },
          about: { email, ...(keyId === undefined ? {} : { keyId }), ...(isRepeated ? { key } : {}) },
        },
        random,
      );
      const id = answer.outcome === 200 ? answer.body.sm_session_id : undefined;
      if (id !== undefined) return new Session(id, email, caller, random, answer.body.client_secret?.value, isOnSocket);
      if (!isRepeated || !isUnknown(answer)) return undefined;
      await caller.pause(PAUSE_MS);
    }
    return undefined;
  }

  heartbeat(): Promise<Entry> {
    if (this.line !== undefined) return this.line.heartbeat();
    return this.#send('heartbeat', { sm_session_id: this.id, email: this.email }, {});
  }

  /** The client goes away; the session stays open. */
  leave(): void {
    this.line?.leave();
  }

  /** Ends the session, retrying until that is acknowledged. */
  end(): Promise<Answer> {
    return this.#untilKnown(() => this.#send('end', { sm_session_id: this.id, email: this.email }, {}));
  }

  /** Reports usage under one idempotency key, retrying until it is acknowledged. */
  report(tokens?: number): Promise<Answer> {
    reports += 1;
    const about = { key: randomUUID(), tokens: tokens ?? reports };
    const body = { sm_session_id: this.id, email: this.email, tokens: about.tokens, dollars: 0.000_001 };
    return this.#untilKnown(() => this.#send('usage', body, about, { 'idempotency-key': about.key }));
  }

  #send(call: 'heartbeat' | 'end' | 'usage', body: object, about: object, headers: Record<string, string> = {}) {
    return this.#caller.send(
      {
        call,
        body,
        headers: { origin: site, ...headers },
        about: { session: this.id, email: this.email, ...about },
      },
      this.#random,
    );
  }

  async #untilKnown(send: () => Promise<Answer>): Promise<Answer> {
    let answer = await send();
    for (let tries = 1; tries < TRIES && (isUnknown(answer) || answer.outcome === 'refused'); tries += 1) {
      await this.#caller.pause(PAUSE_MS);
      answer = await send();
    }
    return answer;
  }
}
