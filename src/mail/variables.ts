import { isIP } from 'node:net';
import { z } from 'zod';
import { url } from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** How to reach the mail server. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (smtps, port 465), instead of STARTTLS. */
  readonly implicitTls: boolean;
  /** True: no credential and no mail is sent without TLS and a valid certificate. */
  readonly verifyTls: boolean;
  readonly credentials?: { readonly user: string; readonly pass: string };
}

const NOT_ENCODED = 'must have user and password percent-encoded (a % sign is written %25)';
const tlsOptions = new Set(['tls=required', 'tls=optional']);

/**
 * Reads `smtp://user:pass@host:587` (STARTTLS if offered) or `smtps://user:pass@host`. TLS with a valid certificate is required with smtps
 * or credentials, unless the server is on this machine; `?tls=required` and `?tls=optional` override this. Optional TLS accepts any
 * certificate, which is still better than plain text.
 */
export const mailServer: z.ZodType<MailServer, string> = url(['smtp', 'smtps']).transform((text, context) => {
  const { protocol, hostname, port: written, username, password, searchParams } = new URL(text);
  const [host, user, pass] = [hostname, username, password].map(decode);
  if (host === '') context.addIssue('must name a server');
  if (![...searchParams].every((option) => tlsOptions.has(option.join('='))))
    context.addIssue('can have no option but tls=required or tls=optional');
  if (host === undefined || user === undefined || pass === undefined) {
    context.addIssue(NOT_ENCODED);
    return z.NEVER;
  }
  const port = Number(written) || (protocol === 'smtps:' ? 465 : 587);
  const implicitTls = protocol === 'smtps:' || port === 465;
  const isWorthProtecting = (implicitTls || user !== '') && !isThisMachine(host);
  const tls = searchParams.get('tls');
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port,
    implicitTls,
    verifyTls: tls === null ? isWorthProtecting : tls === 'required',
    ...(user !== '' && { credentials: { user, pass } }),
  };
});

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

export interface MailSender {
  /** Empty if there is only an address. */
  readonly name: string;
  readonly address: string;
}

/** Reads an address, or a name with an address in angle brackets. */
export const mailSender: z.ZodType<MailSender, string> = z.string().transform((text, context) => {
  const [, quoted, plain, bracketed] = /^(?:"([^"<>\p{Cc}]*)"\s*|([^"<>\p{Cc}]*))<([^<>]*)>$/u.exec(text) ?? [];
  const address = bracketed ?? text;
  if (!z.regexes.html5Email.test(address))
    context.addIssue('must be an address such as no-reply@example.com or Example <no-reply@example.com>');
  return { name: (quoted ?? plain ?? '').trim(), address };
});

export const mail = {
  server: variable(
    'SMTP_URL',
    mailServer,
    { unset: 'unset: development mailbox at /dev/mail' },
    'mail server for login codes and alerts',
    { example: 'smtps://user:password@smtp.example.com:465', production: true, secret: 'in address' },
  ),
  from: variable('MAIL_FROM', mailSender, 'Switchboard <no-reply@localhost>', 'sender of login codes and alerts'),
};
