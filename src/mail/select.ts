import type { Clock } from '../kernel/clock.ts';
import { parseSender } from './address.ts';
import type { KeptMail } from './contract.ts';
import { Outbox } from './outbox.ts';
import { parseSmtpUrl } from './smtp-url.ts';
import { SmtpMailer } from './smtp.ts';

export interface MailOptions {
  /** Unset: the development mailbox. */
  readonly smtpUrl: string | undefined;
  readonly from: string;
  readonly clock: Clock;
  /** Hears of each mail in the development mailbox. */
  readonly onDevMail?: ((mail: KeptMail) => void) | undefined;
}

/** @throws Error when the sender or the address of the server cannot be read */
export function selectMailer({ smtpUrl, from, clock, onDevMail }: MailOptions): Outbox | SmtpMailer {
  if (smtpUrl === undefined) return new Outbox({ clock, ...(onDevMail === undefined ? {} : { onMail: onDevMail }) });
  return new SmtpMailer({ server: parseSmtpUrl(smtpUrl), from: parseSender(from) });
}
