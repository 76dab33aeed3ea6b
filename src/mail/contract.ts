import { Unavailable } from '../kernel/errors.ts';

/** A mail to one person, ready to be sent. */
export interface Mail {
  /** One plain address; anything else is refused before it comes near a mail server. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail in the development mailbox. */
export interface KeptMail extends Mail {
  /** Milliseconds since the Unix epoch. */
  readonly sentAtMs: number;
}

export interface Mailer {
  readonly kind: 'smtp' | 'dev';
  /**
   * Resolves once the mail is handed over to the mail server.
   * @throws Unavailable('mail') when that was not possible within 4 s
   * @throws MailRefused when the server will not take mail for this address, now or later
   * @throws TypeError when `to` is not one plain address: the caller should have checked
   */
  send(mail: Mail): Promise<void>;
  /**
   * Goes as far as `send` would without naming a recipient, and takes as long as recent sends took. It stands in for `send` for
   * addresses that get no mail, so that neither time nor status tells who is known (contract section 6).
   * @throws Unavailable('mail') when the server is away
   */
  rehearse(): Promise<void>;
  /** @throws Unavailable('mail') when the server is away */
  ping(): Promise<void>;
  /** Mails under way are finished; later ones are refused. */
  close(): void;
}

/**
 * The server answered, and said that it will never take mail for this address. To a caller that does not look closer it is mail
 * that is not available; a caller that must not tell which mailboxes exist can answer as if the mail had gone out.
 */
export class MailRefused extends Unavailable {
  constructor(cause: unknown) {
    super('mail', cause);
    this.name = 'MailRefused';
  }
}
