import type { MailSender, MailServer } from './variables.ts';
import type { Clock } from '../kernel/time.ts';
import type { KeptMail } from './contract.ts';
import { DevMailbox } from './dev-mailbox.ts';
import { SmtpMailer } from './smtp.ts';

export interface MailOptions {
  /** Undefined for the development mailbox. */
  readonly server: MailServer | undefined;
  readonly from: MailSender;
  readonly clock: Clock;
  /** Called with each mail in the development mailbox. */
  readonly onDevMail?: ((mail: KeptMail) => void) | undefined;
}

/** The mailer that the settings choose. */
export function selectMailer({ server, from, clock, onDevMail }: MailOptions): DevMailbox | SmtpMailer {
  if (server === undefined) return new DevMailbox({ clock, ...(onDevMail === undefined ? {} : { onMail: onDevMail }) });
  return new SmtpMailer({ server, from });
}
