import { BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { isOrigin } from './origins.ts';

/** A whole number within bounds, written in decimal digits. */
export function integer(min: number, max: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
}

const MAX_WORKERS = 256;

/** A number of processes, or `auto` for one per core. */
export const workers: z.ZodType<number> = z
  .string()
  .regex(/^(auto|\d{1,3})$/, `must be auto or a whole number from 1 to ${MAX_WORKERS}`)
  .transform((text) => (text === 'auto' ? Math.min(availableParallelism(), MAX_WORKERS) : Number(text)))
  .pipe(z.number().min(1, 'must be at least 1').max(MAX_WORKERS, `must be at most ${MAX_WORKERS}`));

/** An amount in dollars with at most six decimals, converted to micro-dollars. */
export function dollars(max: number): z.ZodType<number> {
  return z
    .string()
    .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be an amount of dollars with at most 6 decimals')
    .transform((text) => Math.round(Number(text) * 1_000_000))
    .pipe(z.number().max(max * 1_000_000, `must be at most ${max}`));
}

/** A number from 0 to 1 with at most three decimals. */
export const share: z.ZodType<number> = z
  .string()
  .regex(/^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/, 'must be a number from 0 to 1 with at most 3 decimals')
  .transform(Number);

export function choice<const T extends readonly [string, ...string[]]>(values: T): z.ZodType<T[number]> {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

export const boolean: z.ZodType<boolean> = z
  .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
  .transform((text) => text === 'true' || text === '1');

/** A comma-separated list without empty entries. */
export const list: z.ZodType<string[], string> = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

/** An address with one of the given schemes, as text. */
export function url(schemes: readonly string[]): z.ZodType<string, string> {
  const wanted = `must be an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return z
    .string()
    .refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), wanted);
}

/** A prefix of keys in Redis. It contains no braces, because they would replace the hash tags that keep keys together in a cluster. */
export const keyPrefix: z.ZodType<string, string> = z
  .string()
  .regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, colons, dashes or underscores');

/** A credential that is sent in a header. */
export const credential: z.ZodType<string, string> = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

/** A comma-separated list of at least one credential. Messages never repeat a credential. */
export const credentials: z.ZodType<string[], string> = list.pipe(z.array(credential).min(1, 'must hold a key'));

/** An origin as browsers send it: scheme, host, and the port unless it is the scheme's default. */
export const origin: z.ZodType<string, string> = z.string().refine((text) => isOrigin(text) && !text.includes('*'), {
  message: 'must be an origin such as https://www.example.com, without a path, a trailing slash or a wildcard',
});

/** The service's own origin, without the trailing slash that address bars add. */
export const ownOrigin: z.ZodType<string, string> = z
  .string()
  .transform((text) => text.replace(/\/$/, ''))
  .refine(isOrigin, 'must be the address that browsers use, such as https://voice.example.com, without a path');

// UTC is accepted without time-zone data, because loading that takes 30 ms and 9 MB at the start.
export const timeZone: z.ZodType<string, string> = z
  .string()
  .refine((name) => name === 'UTC' || isTimeZone(name), 'must be a time zone such as UTC or Europe/Berlin');

/**
 * A comma-separated list in lower case: addresses, `@domain` for all addresses of a domain, or `*` for everybody. Other wildcards are refused,
 * because they would match nobody.
 */
export const emails: z.ZodType<string[], string> = list.transform((entries, context) => {
  for (const entry of entries)
    if (entry !== '*' && !/^[^\s@*]*@[^\s@*]+$/.test(entry))
      context.addIssue({ code: 'custom', message: `"${entry}" is not an address, a @domain or *` });
  return entries.map((entry) => entry.toLowerCase());
});

/** A comma-separated list of secrets with at least this many characters. Messages never repeat a secret. */
export function secrets(characters: number): z.ZodType<string[], string> {
  const long = z.string().min(characters, `each must have ${characters} or more characters`);
  return list.pipe(
    z.array(
      long.refine((text) => !text.includes('openssl rand'), 'is the example: run the command and use what it prints'),
    ),
  );
}

/** A comma-separated list of 32-byte keys in base64. Messages never repeat a key. */
export const sealingKeys: z.ZodType<Buffer[], string> = list.transform((entries, context) => {
  const keys = entries.map((entry) => Buffer.from(entry, 'base64'));
  const isKey = (key: Buffer, at: number): boolean =>
    key.length === 32 && key.toString('base64').replace(/=$/, '') === entries[at]?.replace(/=$/, '');
  if (keys.length === 0 || !keys.every(isKey))
    context.addIssue({
      code: 'custom',
      message: 'each must be 32 bytes in base64: what openssl rand -base64 32 prints',
    });
  return keys;
});

/** Comma-separated CIDR blocks or single addresses. */
export const networks: z.ZodType<BlockList> = list.transform((entries, context) => {
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

/** A comma-separated list of TCP ports: something is allowed at these ports only. */
export const ports: z.ZodType<number[], string> = list.transform((entries, context) => {
  const found = z.array(integer(1, 65_535)).safeParse(entries);
  if (found.success) return found.data;
  context.addIssue({ code: 'custom', message: 'each must be a whole number from 1 to 65535' });
  return [];
});

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
