import { systemClock } from '../kernel/clock.ts';
import type { Clock } from '../kernel/clock.ts';
import { isPlainAddress } from './address.ts';
import type { KeptMail, Mail, Mailer } from './contract.ts';

const kept = 50;

/** The development mailbox: nothing leaves the process; the last 50 mails can be read, and `onMail` hears of each at once. */
export class Outbox implements Mailer {
  readonly kind = 'dev';
  readonly #mails: KeptMail[] = [];
  readonly #onMail: (mail: KeptMail) => void;
  readonly #clock: Clock;

  constructor(options: { onMail?: (mail: KeptMail) => void; clock?: Clock } = {}) {
    this.#onMail = options.onMail ?? (() => {});
    this.#clock = options.clock ?? systemClock;
  }

  /** The kept mails, newest first. */
  list(): readonly KeptMail[] {
    return this.#mails.toReversed();
  }

  send(mail: Mail): Promise<void> {
    // As strict as the real one, so that a mistake shows in development.
    if (!isPlainAddress(mail.to)) return Promise.reject(new TypeError('a mail goes to one plain address'));
    const keptMail = { ...mail, sentAtMs: this.#clock.now() };
    this.#mails.push(keptMail);
    if (this.#mails.length > kept) this.#mails.shift();
    this.#onMail(keptMail);
    return Promise.resolve();
  }

  rehearse(): Promise<void> {
    return Promise.resolve();
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {}
}
