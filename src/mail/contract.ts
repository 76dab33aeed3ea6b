import { Unavailable } from '../kernel/errors.ts';

/** A mail to one person, ready to be sent. */
export interface Mail {
  /** One plain address; anything else is refused before it comes near a mail server. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Left out where the mail is plain text. */
  readonly html?: string;
}

/** A mail in the development mailbox. */
export interface KeptMail extends Mail {
  /** Milliseconds since the Unix epoch. */
  readonly sentAtMs: number;
}

/** Sends mail in two steps: what is the same for every recipient, then the handing over. */
export interface Mailer {
  readonly kind: 'smtp' | 'dev';
  /**
   * Does all that can be done before a recipient is named: the mail is written, and a connection on which the server has just
   * answered is held for it. The work is the same for every recipient, so that neither time nor outcome tells who is known.
   * @throws Unavailable('mail') when the server is away, silent or refuses our login, within 4 s
   * @throws TypeError when `to` is not one plain address: the caller should have checked
   */
  prepare(mail: Mail): Promise<ReadyMail>;
  /** @throws Unavailable('mail') when the server is away */
  ping(): Promise<void>;
  /** The same mailer with one connection of its own, for mails that must hold up no others. Whoever asks closes it. */
  aside(): Mailer;
  /** Mails that are ready or under way are finished; later ones are refused. */
  close(): void;
}

/** A mail that is ready to leave. One of the two is called, once. */
export interface ReadyMail {
  /**
   * Resolves once the mail server has taken the mail.
   * @throws MailRefused when the server will not take mail for this address, now or later
   * @throws Unavailable('mail') when it did not take it for another reason, or not within 4 s
   */
  send(): Promise<void>;
  /** Nothing is sent. The connection is held for as long as a send takes, so that those who come next notice no difference. */
  drop(): void;
}

/** The server answered, and said that it will never take mail for this address. */
export class MailRefused extends Unavailable {
  constructor(cause: unknown) {
    super('mail', cause);
    this.name = 'MailRefused';
  }
}
