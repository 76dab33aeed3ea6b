import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Mail } from './contract.ts';
import type { MailSender } from './variables.ts';

/** RFC 5321 section 4.5.3.1: a path holds 256 octets, two of them the angle brackets. */
const MAX_ADDRESS_LENGTH = 254;

/** True for one bare ASCII address: no display name, list, quote, comment, control character or white space. */
export function isPlainAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && z.regexes.html5Email.test(text);
}

/** The mail as sent over the wire (RFC 5322, multipart/alternative). */
export async function composeMessage(from: MailSender, mail: Mail): Promise<Buffer> {
  // Imported with the first mail, so that starting the service does not wait for it.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const composer = new MailComposer({
    // Objects, never strings: in a string, "a@good <b@evil>" is b@evil.
    from: { name: from.name, address: from.address },
    to: { name: '', address: mail.to },
    subject: mail.subject.replace(/\p{Cc}+/gu, ' '),
    text: mail.text,
    ...(mail.html !== undefined && { html: mail.html }),
    // The sender's domain, not this machine's name: most spam filters expect it, and it reveals nothing about our hosts.
    messageId: `<${randomUUID()}@${domain}>`,
    headers: {
      // RFC 3834: no vacation notices in reply; the second header is the one that Exchange respects.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}
