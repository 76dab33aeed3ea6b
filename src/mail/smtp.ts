import { setTimeout as delay } from 'node:timers/promises';
import { Unavailable } from '../kernel/errors.ts';
import { isPlainAddress } from './address.ts';
import type { Sender } from './address.ts';
import { MailRefused } from './contract.ts';
import type { Mail, Mailer } from './contract.ts';
import { SmtpLines } from './lines.ts';
import { composeMessage } from './message.ts';
import { Pace } from './pace.ts';
import type { SmtpSettings } from './smtp-url.ts';

export interface SmtpOptions {
  readonly server: SmtpSettings;
  readonly from: Sender;
  /** Milliseconds for a whole send, waiting for a line included; default 4000. */
  readonly timeoutMs?: number;
}

/**
 * Sends through a mail server. A server that is away, frozen at any step or refuses our login is Unavailable('mail') in time; the
 * next mail tries again on a new line, so that recovery needs nobody.
 */
export class SmtpMailer implements Mailer {
  readonly kind = 'smtp';
  readonly #from: Sender;
  readonly #timeoutMs: number;
  readonly #lines: SmtpLines;
  readonly #pace = new Pace();

  constructor(options: SmtpOptions) {
    this.#from = options.from;
    this.#timeoutMs = options.timeoutMs ?? 4_000;
    this.#lines = new SmtpLines(options.server);
  }

  async send(mail: Mail): Promise<void> {
    // Defence in depth: a line break in an address would be a header or a second recipient further down.
    if (!isPlainAddress(mail.to)) throw new TypeError('a mail goes to one plain address');
    const startedAt = performance.now();
    const envelope = { from: this.#from.address, to: mail.to };
    await this.#bounded(async (signal) => {
      const message = await composeMessage(this.#from, mail);
      await this.#lines.use(signal, (line) => line.deliver(envelope, message, signal));
    });
    this.#pace.record(performance.now() - startedAt);
  }

  async rehearse(): Promise<void> {
    const startedAt = performance.now();
    await this.ping();
    const leftMs = this.#pace.draw() - (performance.now() - startedAt);
    if (leftMs > 0) await delay(leftMs);
  }

  async ping(): Promise<void> {
    await this.#bounded((signal) => this.#lines.use(signal, () => Promise.resolve()));
  }

  close(): void {
    this.#lines.close();
  }

  async #bounded(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new Error('the mail took too long')), this.#timeoutMs);
    try {
      await work(deadline.signal);
    } catch (error) {
      throw refusesRecipient(error) ? new MailRefused(error) : new Unavailable('mail', error);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * A permanent no to RCPT TO that is about the mailbox (RFC 3463: 5.1 addressing, 5.2 mailbox). Other permanent answers, such as
 * 5.7 "relay denied", are about us: they would meet every recipient, and an operator must hear of them.
 */
function refusesRecipient(error: unknown): boolean {
  const { command, response } = error as { command?: unknown; response?: unknown };
  return command === 'RCPT TO' && typeof response === 'string' && /^5\d\d[ -]5\.[12]\./.test(response);
}
