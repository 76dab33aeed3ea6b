import { setTimeout as delay } from 'node:timers/promises';
import type { MailSender, MailServer } from './variables.ts';
import { Unavailable } from '../kernel/errors.ts';
import { MailRefused } from './contract.ts';
import type { Mail, Mailer, ReadyMail } from './contract.ts';
import type { SmtpConnection } from './smtp-connection.ts';
import { SmtpPool } from './smtp-pool.ts';
import { composeMessage, isPlainAddress } from './message.ts';

export interface SmtpOptions {
  readonly server: MailServer;
  readonly from: MailSender;
  /** Milliseconds to prepare a mail, including the wait for a connection, and the same again to hand it over; default 4000. */
  readonly timeoutMs?: number;
  /** Connections that may be open at once; default 5. */
  readonly maxLines?: number;
}

/**
 * Sends through a mail server. A server that is away, hangs at any step or refuses our login results in Unavailable('mail') in time; the
 * next mail tries again on a new connection, so recovery needs no intervention.
 */
export class SmtpMailer implements Mailer {
  readonly kind = 'smtp';
  readonly #options: SmtpOptions;
  readonly #from: MailSender;
  readonly #timeoutMs: number;
  readonly #pool: SmtpPool;
  readonly #durations = new SendDurations();

  constructor(options: SmtpOptions) {
    this.#options = options;
    this.#from = options.from;
    this.#timeoutMs = options.timeoutMs ?? 4_000;
    this.#pool = new SmtpPool(options.server, options.maxLines);
  }

  async prepare(mail: Mail): Promise<ReadyMail> {
    // Defence in depth: a line break in an address would become a header or a second recipient later on.
    if (!isPlainAddress(mail.to)) throw new TypeError('a mail goes to one plain address');
    return await this.#bounded(async (signal) => {
      const message = await composeMessage(this.#from, mail);
      const connection = await this.#pool.take(signal);
      return { send: () => this.#deliver(connection, mail.to, message), drop: () => void this.#hold(connection) };
    });
  }

  async ping(): Promise<void> {
    await this.#bounded(async (signal) => this.#pool.give(await this.#pool.take(signal)));
  }

  aside(): SmtpMailer {
    return new SmtpMailer({ ...this.#options, maxLines: 1 });
  }

  close(): void {
    this.#pool.close();
  }

  async #deliver(connection: SmtpConnection, to: string, message: Buffer): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#bounded((signal) => connection.deliver({ from: this.#from.address, to }, message, signal));
      this.#durations.record(performance.now() - startedAt);
    } catch (error) {
      // The RSET before the next use would reset a refused envelope too, but a new connection is simpler and certainly clean.
      connection.destroy();
      throw error;
    } finally {
      this.#pool.give(connection);
    }
  }

  async #hold(connection: SmtpConnection): Promise<void> {
    await delay(this.#durations.draw());
    this.#pool.give(connection);
  }

  async #bounded<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error('the mail took too long')), this.#timeoutMs);
    try {
      return await work(deadline.signal);
    } catch (error) {
      throw refusesRecipient(error) ? new MailRefused(error) : new Unavailable('mail', error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Whether RCPT TO was refused permanently because of the mailbox (RFC 3463: 5.1 addressing, 5.2 mailbox). Other permanent answers, such
 * as 5.7 "relay denied", are about us: they would affect every recipient, and an operator must learn of them.
 */
function refusesRecipient(error: unknown): boolean {
  const { command, response } = error as { command?: unknown; response?: unknown };
  return command === 'RCPT TO' && typeof response === 'string' && /^5\d\d[ -]5\.[12]\./.test(response);
}

const REMEMBERED = 32;

/** How long recent sends took, so that a mail that is not sent keeps its connection for as long. */
class SendDurations {
  readonly #durationsMs: number[] = [];
  #next = 0;

  record(durationMs: number): void {
    this.#durationsMs[this.#next] = durationMs;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /**
   * Milliseconds that a send might take now: one of the recent durations, drawn at random, because a fixed average would stand
   * out from the real spread. 0 before the first send.
   */
  draw(): number {
    return this.#durationsMs[Math.floor(Math.random() * this.#durationsMs.length)] ?? 0;
  }
}
