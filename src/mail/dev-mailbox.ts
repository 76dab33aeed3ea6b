import { systemClock, type Clock } from '../kernel/time.ts';
import type { KeptMail, Mail, Mailer, ReadyMail } from './contract.ts';
import { isPlainAddress } from './message.ts';

const KEPT_MAILS = 50;

/** The development mailbox: nothing leaves the process. The last 50 mails can be read, and `onMail` is called with each at once. */
export class DevMailbox implements Mailer {
  readonly kind = 'dev';
  readonly #mails: KeptMail[] = [];
  readonly #onMail: (mail: KeptMail) => void;
  readonly #clock: Clock;

  constructor(options: { onMail?: ((mail: KeptMail) => void) | undefined; clock?: Clock } = {}) {
    this.#onMail = options.onMail ?? (() => {});
    this.#clock = options.clock ?? systemClock;
  }

  /** The kept mails, newest first. */
  list(): readonly KeptMail[] {
    return this.#mails.toReversed();
  }

  prepare(mail: Mail): Promise<ReadyMail> {
    // As strict as the real one, so that a mistake shows in development.
    if (!isPlainAddress(mail.to)) return Promise.reject(new TypeError('a mail goes to one plain address'));
    return Promise.resolve({
      send: () => {
        this.#keep({ ...mail, sentAtMs: this.#clock.now() });
        return Promise.resolve();
      },
      drop: () => {},
    });
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  /** Needs no connection of its own: no mail here delays another. */
  aside(): this {
    return this;
  }

  close(): void {}

  #keep(mail: KeptMail): void {
    this.#mails.push(mail);
    if (this.#mails.length > KEPT_MAILS) this.#mails.shift();
    this.#onMail(mail);
  }
}
