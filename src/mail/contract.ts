import { Unavailable } from '../kernel/errors.ts';

/** A mail to one person, ready to be sent. */
export interface Mail {
  /** One plain address; anything else is refused before it reaches a mail server. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Undefined for plain text mails. */
  readonly html?: string;
}

/** A mail in the development mailbox. */
export interface KeptMail extends Mail {
  /** Milliseconds since the Unix epoch. */
  readonly sentAtMs: number;
}

/** Sends mail in two steps: first everything that is the same for every recipient, then the handover. */
export interface Mailer {
  readonly kind: 'smtp' | 'dev';
  /**
   * Does everything that is possible before a recipient is named: writes the mail, and reserves a connection on which the server has just
   * answered. The work is the same for every recipient, so that neither duration nor outcome reveals who is known.
   * @throws Unavailable('mail') within 4 s when the server is away, silent or refuses our login
   * @throws TypeError when `to` is not one plain address: the caller should have checked
   */
  prepare(mail: Mail): Promise<ReadyMail>;
  /** @throws Unavailable('mail') when the server is away */
  ping(): Promise<void>;
  /** The same mailer with one connection of its own, for mails that must not delay others. The caller closes it. */
  aside(): Mailer;
  /** Finishes mails that are ready or under way, and refuses later ones. */
  close(): void;
}

/** A mail that is ready to be sent. Exactly one of the two functions is called, once. */
export interface ReadyMail {
  /**
   * Resolves once the mail server has accepted the mail.
   * @throws MailRefused when the server will not accept mail for this address, now or later
   * @throws Unavailable('mail') when it did not accept the mail for another reason, or not within 4 s
   */
  send(): Promise<void>;
  /** Sends nothing. Keeps the connection for as long as a send takes, so that mails after it notice no difference. */
  drop(): void;
}

/** The server answered that it will never accept mail for this address. */
export class MailRefused extends Unavailable {
  constructor(cause: unknown) {
    super('mail', cause);
    this.name = 'MailRefused';
  }
}
