import { BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';

/** One environment variable: how its text is read, and what `--help` and start-up errors teach about it. */
export interface Variable<T> {
  readonly schema: z.ZodType<T>;
  readonly meaning: string;
  /** The default as a reader of the help sees it. */
  readonly defaultText: string;
  readonly example: string;
  readonly requiredInProduction: boolean;
  /** Its value must never be printed. */
  readonly secret: boolean;
}

interface Teaching {
  readonly meaning: string;
  readonly default: string;
  readonly example?: string;
  readonly requiredInProduction?: boolean;
  readonly secret?: boolean;
}

export function variable<T>(schema: z.ZodType<T>, teaching: Teaching): Variable<T> {
  return {
    schema,
    meaning: teaching.meaning,
    defaultText: teaching.default,
    example: teaching.example ?? teaching.default,
    requiredInProduction: teaching.requiredInProduction ?? false,
    secret: teaching.secret ?? false,
  };
}

/** A whole number within bounds, written in decimal digits. */
export function integer(min: number, max: number, fallback: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(fallback);
}

const MAX_WORKERS = 256;

/** A number of processes, or `auto` for as many as this machine runs at once. */
export const workers: z.ZodType<number> = z
  .string()
  .regex(/^(auto|\d{1,3})$/, `must be auto or a whole number from 1 to ${MAX_WORKERS}`)
  .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(text)))
  .pipe(z.number().min(1, 'must be at least 1').max(MAX_WORKERS, `must be at most ${MAX_WORKERS}`))
  .default(1);

/** An amount of dollars with at most six decimals, as micro-dollars. */
export function dollars(max: number, fallback: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of dollars with at most 6 decimals')
    .transform((text) => Math.round(Number(text) * 1_000_000))
    .pipe(z.number().max(max * 1_000_000, `must be at most ${max}`))
    .default(fallback * 1_000_000);
}

export function choice<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number]> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

export const boolean: z.ZodType<boolean> = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

/** A comma-separated list without empty entries. */
export const list: z.ZodType<string[], string> = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** An address with a scheme of the list, as text. */
export function url(schemes: readonly string[]): z.ZodType<string, string> {
  const wanted = `must be an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), wanted);
}

/** The first part of keys in Redis. Braces would take the place of those that keep keys together in a cluster. */
export const keyPrefix: z.ZodType<string, string> = z
  .string()
  .regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, colons, dashes or underscores');

/** A mail server's address: user and password percent-encoded, and `tls` as the only option. */
export const mailServer: z.ZodType<string, string> = url(['smtp', 'smtps']).pipe(
  z
    .string()
    .refine((text) => new URL(text).hostname !== '', 'must name a server')
    .refine((text) => isEncoded(new URL(text)), 'must have user and password percent-encoded (a % sign is written %25)')
    .refine(
      (text) => [...new URL(text).searchParams].every((option) => tlsOptions.has(option.join('='))),
      'can have no option but tls=required or tls=optional',
    ),
);

const tlsOptions = new Set(['tls=required', 'tls=optional']);

function isEncoded({ hostname, username, password }: URL): boolean {
  try {
    return [hostname, username, password].every((part) => typeof decodeURIComponent(part) === 'string');
  } catch {
    return false;
  }
}

/** A credential that is sent in a header. */
export const credential: z.ZodType<string, string> = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

/** An origin as browsers send it: scheme, host and, where not the scheme's own, port. */
export const origin: z.ZodType<string, string> = z.string().refine((text) => isOrigin(text) && !text.includes('*'), {
  message: 'must be an origin such as https://www.example.com, without a path, a trailing slash or a wildcard',
});

/** The service's own origin; the trailing slash that address bars add is taken off. */
export const ownOrigin: z.ZodType<string, string> = z
  .string()
  .transform((text) => text.replace(/\/$/, ''))
  .refine(isOrigin, 'must be the address that browsers use, such as https://voice.example.com, without a path');

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** True where a cookie and a login code are safe on the way: https, or this machine. */
export function isSafeOrigin(publicUrl: string): boolean {
  return publicUrl.startsWith('https:') || isLoopback(publicUrl);
}

/** True for an address that means the machine itself. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

export const timeZone: z.ZodType<string, string> = z.string().refine((name) => {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}, 'must be a time zone such as UTC or Europe/Berlin');

/**
 * Addresses, `@domain` for all addresses of a domain, or `*` for everybody; comma-separated, in lower case. No other wildcard: it
 * would match nobody.
 */
export const emails: z.ZodType<string[], string> = list.transform((entries, context) => {
  for (const entry of entries)
    if (entry !== '*' && !/^[^\s@*]*@[^\s@*]+$/.test(entry))
      context.addIssue({ code: 'custom', message: `"${entry}" is not an address, a @domain or *` });
  return entries.map((entry) => entry.toLowerCase());
});

/** A mail sender: an address, or a name with an address in angle brackets. */
export const sender: z.ZodType<string, string> = z.string().refine((text) => {
  const [, bracketed] = /^(?:"[^"<>\p{Cc}]*"\s*|[^"<>\p{Cc}]*)<([^<>]*)>$/u.exec(text) ?? [];
  return z.regexes.html5Email.test(bracketed ?? text);
}, 'must be an address such as no-reply@example.com or Example <no-reply@example.com>');

/** A comma-separated list of secrets of at least so many characters. Messages never repeat a secret. */
export function secrets(characters: number): z.ZodType<string[], string> {
  const long = z.string().min(characters, `each must have ${characters} or more characters`);
  return list.pipe(
    z.array(
      long.refine((text) => !text.includes('openssl rand'), 'is the example: run the command and use what it prints'),
    ),
  );
}

/** Comma-separated CIDR blocks or single addresses of trusted proxies. */
export const proxies: z.ZodType<BlockList> = list.transform((entries, context) => {
  const blocks = new BlockList();
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const prefix = bits === undefined ? most : Number(bits);
    if (isIP(address) === 0 || rest.length > 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > most) {
      context.addIssue({ code: 'custom', message: `"${entry}" is not an address or a CIDR block such as 10.0.0.0/8` });
      continue;
    }
    blocks.addSubnet(address, prefix, family);
  }
  return blocks;
});
