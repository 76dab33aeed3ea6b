import { isIP } from 'node:net';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (smtps, port 465), instead of STARTTLS. */
  readonly implicitTls: boolean;
  /** True: no credential and no mail without TLS and a certificate that checks out. */
  readonly verifyTls: boolean;
  readonly credentials?: { readonly user: string; readonly pass: string };
}

/**
 * Reads SMTP_URL: `smtp://user:pass@host:587` (STARTTLS where offered) or `smtps://user:pass@host`. User and password are
 * percent-encoded. TLS with a valid certificate is demanded where there is something to protect (smtps, or credentials) and the
 * server is not on this machine; `?tls=required` and `?tls=optional` decide otherwise. Optional TLS takes any certificate: it is
 * still better than the plain text that would be its alternative.
 * @throws Error that says what is wrong, without repeating the password
 */
export function parseSmtpUrl(text: string): SmtpSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    throw new Error('the mail server must be given as smtp://user:password@host:587 or smtps://user:password@host');
  }
  const host = decode(url.hostname.replace(/^\[|\]$/g, ''));
  const port = Number(url.port) || (url.protocol === 'smtps:' ? 465 : 587);
  const implicitTls = url.protocol === 'smtps:' || port === 465;
  const credentials = url.username === '' ? undefined : { user: decode(url.username), pass: decode(url.password) };
  const worthProtecting = (implicitTls || credentials !== undefined) && !isLoopback(host);
  const verifyTls = tlsOption(url.searchParams) ?? worthProtecting;
  return { host, port, implicitTls, verifyTls, ...(credentials && { credentials }) };
}

function tlsOption(options: URLSearchParams): boolean | undefined {
  for (const [name, value] of options) {
    if (name !== 'tls' || (value !== 'required' && value !== 'optional')) {
      throw new Error(`the mail server's address knows only the options tls=required and tls=optional, not ${name}`);
    }
  }
  const tls = options.get('tls');
  return tls === null ? undefined : tls === 'required';
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Error("the mail server's user and password must be percent-encoded (a % sign is written %25)");
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
