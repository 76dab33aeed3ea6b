import type { MailServer } from './variables.ts';
import { SmtpConnection } from './smtp-connection.ts';

/** Connections at once: mail servers count them, and a flood of sends must not become a flood of connections. */
const MAX_LINES = 5;
/** A connection that does not answer within this time is dead, and another is opened. */
const STALE_MS = 1_000;

/**
 * Keeps a few connections to the mail server open between mails. Mails that are sent and mails that are not share every step up to the
 * envelope, so the pool must let a caller stop exactly there. nodemailer's pool cannot: docs/decisions/0015-connections-to-the-mail-server.md.
 */
export class SmtpPool {
  readonly #settings: MailServer;
  readonly #maxLines: number;
  /** Most recently used last. A connection that closed, because the server hung up or it was idle too long, is only noticed when it is taken. */
  readonly #idle: SmtpConnection[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #closed = false;

  /** @param maxLines connections that may be open at once */
  constructor(settings: MailServer, maxLines = MAX_LINES) {
    this.#settings = settings;
    this.#maxLines = maxLines;
  }

  /**
   * A connection that has just answered; it must be given back. Waits while all are in use.
   * @throws what the server or the network threw, or on abort
   */
  async take(signal: AbortSignal): Promise<SmtpConnection> {
    await this.#takeTurn(signal);
    try {
      return await this.#acquire(signal);
    } catch (error) {
      this.#passTurn();
      throw error;
    }
  }

  /** Gives a connection back, for reuse unless it is broken. */
  give(connection: SmtpConnection): void {
    if (this.#closed || !connection.usable) connection.quit();
    else this.#idle.push(connection);
    this.#passTurn();
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection.quit();
  }

  async #acquire(signal: AbortSignal): Promise<SmtpConnection> {
    if (this.#closed) throw new Error('mail is closed');
    const kept = this.#idle.pop();
    if (kept) {
      if (kept.usable && (await stillAnswers(kept, signal))) return kept;
      // Whatever silenced one connection (a restart, a firewall that forgot it) has probably silenced all of them.
      for (const connection of this.#idle.splice(0)) connection.destroy();
    }
    return await SmtpConnection.open(this.#settings, signal);
  }

  async #takeTurn(signal: AbortSignal): Promise<void> {
    if (this.#busy < this.#maxLines) {
      this.#busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(new Error('all connections to the mail server were busy for too long'));
      };
      const go = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(go);
    });
  }

  /** Passes the turn to the next waiting caller; `#busy` only decreases when none is waiting. */
  #passTurn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy -= 1;
  }
}

async function stillAnswers(connection: SmtpConnection, signal: AbortSignal): Promise<boolean> {
  const patience = setTimeout(() => connection.destroy(), STALE_MS);
  try {
    await connection.check(signal);
    return true;
  } catch {
    connection.destroy();
    signal.throwIfAborted();
    return false;
  } finally {
    clearTimeout(patience);
  }
}
